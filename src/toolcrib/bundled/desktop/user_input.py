"""The user's own input, as a backend that can watch it reports it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from toolcrib.bundled.desktop.geometry import Point

InputKind = Literal["key_press", "button_press", "button_release"]


@dataclass(frozen=True)
class UserInput:
    kind: InputKind
    at: Point
    """Where the pointer is."""
    time: int
    """Milliseconds, of the display's own clock."""
    key: str = ""
    """The name of a key, such as `Return`; empty for keys that only produce text."""
    text: str = ""
    """What a key types; an accent that waits for its letter is a combining character."""
    modifiers: tuple[str, ...] = ()
    """ctrl, alt and super; shift only with one of them, or if the key types nothing."""
    button: int = 0
    """1 left, 2 middle, 3 right, 4 to 7 scroll up, down, left, right."""


class InputWatch(Protocol):
    def close(self) -> None:
        """Stop; nothing is reported afterwards."""


@runtime_checkable
class WatchesInput(Protocol):
    """A backend that can report what the user types and clicks."""

    async def watch_input(self, on_input: Callable[[UserInput], None]) -> InputWatch:
        """Report every key and button from now on, from another thread. Raises `ToolFailure`."""

"""Keys and buttons that stay down between calls: which are held, and what releases them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Button
from toolcrib.bundled.desktop.geometry import Point

LONGEST = 60.0
"""Seconds after which what nobody releases is released."""


@dataclass(frozen=True)
class HeldChange:
    """A key or a button goes down or comes up."""

    name: str
    pressed: bool
    is_button: bool = False


Send = Callable[[Sequence[HeldChange]], Awaitable[None]]


class HeldDown:
    """Sends each change once: a key that is down is not pressed again."""

    def __init__(self, send: Send, move: Callable[[Point], Awaitable[None]]) -> None:
        self._send = send
        self._move = move
        self._since: dict[tuple[bool, str], float] = {}

    async def hold(self, keys: Sequence[str], button: Button | None, at: Point | None) -> None:
        """Move, press the keys and then the button."""
        if at is not None:
            await self._move(at)
        wanted = [(False, key) for key in keys] + ([(True, button)] if button is not None else [])
        new = [each for each in wanted if each not in self._since]
        self._since.update(dict.fromkeys(new, time.monotonic()))
        await self._send([HeldChange(name, True, is_button) for is_button, name in new])
        asyncio.get_running_loop().call_later(LONGEST, self._release_old)

    async def release(self, keys: Sequence[str], button: Button | None, at: Point | None) -> None:
        """Move, release the button and then the keys; all if none is named."""
        if at is not None:
            await self._move(at)
        named = [(False, key) for key in keys] + ([(True, button)] if button is not None else [])
        await self._send(self.let_go(named or list(self._since)))

    def let_go(self, named: Sequence[tuple[bool, str]] | None = None) -> list[HeldChange]:
        """Forget these, or all, and return what releases them, the last one first."""
        chosen = [each for each in reversed(self._since) if named is None or each in named]
        for each in chosen:
            del self._since[each]
        return [HeldChange(name, False, is_button) for is_button, name in chosen]

    @property
    def keys(self) -> list[str]:
        return [name for is_button, name in self._since if not is_button]

    @property
    def button(self) -> str | None:
        """The button that was pressed last."""
        return next((name for is_button, name in reversed(self._since) if is_button), None)

    def _release_old(self) -> None:
        oldest = time.monotonic() - LONGEST + 1
        changes = self.let_go([each for each, since in self._since.items() if since < oldest])
        if changes:
            task = asyncio.ensure_future(self._send(changes))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

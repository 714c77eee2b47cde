"""The windows of Wayland programs, as they tell accessibility clients."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name, role_name, state_names
from toolcrib.serverkit.context import ToolFailure

WINDOW_ROLES = {"frame", "window", "dialog", "alert", "file chooser"}
MOST_WINDOWS = 200
"""Of one program."""
SCREEN_COORDINATES = 0


@dataclass(frozen=True)
class NativeWindow:
    ref: ElementRef
    title: str
    application: int
    program: str
    size: tuple[int, int]
    active: bool
    minimised: bool


class NativeWindows:
    def __init__(self, accessibility: AtspiAccessibility) -> None:
        self._accessibility = accessibility

    async def list(self) -> Sequence[NativeWindow]:
        """Of all programs that offer their elements; none without accessibility."""
        try:
            bus = await self._accessibility.connect()
            programs = await bus.programs()
        except (ToolFailure, NoAnswer):
            return []
        found = await asyncio.gather(*(_windows(bus, *program) for program in programs.items()))
        return [window for windows in found for window in windows]


async def _windows(bus: AccessibilityBus, process: int, root: ElementRef) -> Sequence[NativeWindow]:
    with contextlib.suppress(NoAnswer):
        name = clean_name(await bus.get(*root, "Accessible", "Name"))
        answer = await bus.call(*root, f"{ATSPI}Accessible", "GetChildren")
        refs = [(child[0], child[1]) for child in (answer[0] if answer else ())][:MOST_WINDOWS]
        found = await asyncio.gather(*(_window(bus, process, name, ref) for ref in refs))
        return [window for window in found if window is not None]
    return []


async def _window(bus: AccessibilityBus, process: int, program: str, ref: ElementRef) -> NativeWindow | None:
    title, role, state, extents = await asyncio.gather(
        bus.get(*ref, "Accessible", "Name"),
        bus.call(*ref, f"{ATSPI}Accessible", "GetRole"),
        bus.call(*ref, f"{ATSPI}Accessible", "GetState"),
        bus.call(*ref, f"{ATSPI}Component", "GetExtents", "u", SCREEN_COORDINATES),
    )
    if role is None or state is None or role_name(role[0]) not in WINDOW_ROLES:
        return None
    states = state_names(state[0])
    if not states & {"showing", "visible", "iconified"}:
        return None
    width, height = extents[0][2:4] if extents else (0, 0)
    size = (max(0, width), max(0, height))
    return NativeWindow(
        ref, clean_name(title), process, program, size, "active" in states, "iconified" in states
    )

"""Where elements are on the screen.

GTK 4 does not know the position of its windows and gives places inside them. They are moved by the position
of the application's window if it has one window; otherwise they are unknown, because a guess could click on
another element.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from toolcrib.bundled.desktop.backend import ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.geometry import Rect

SCREEN_COORDINATES = 0
FARTHEST = 1 << 20
ROOT = "/org/a11y/atspi/accessible/root"


class Places:
    def __init__(self, windows: X11Windows) -> None:
        self._windows = windows
        self._inside_window: dict[str, bool] = {}
        """Programs whose places are relative to their window."""

    async def find(self, bus: AccessibilityBus, refs: Sequence[ElementRef]) -> Mapping[ElementRef, Rect]:
        """The rectangles of those that have one, asked for all at once."""
        found = await asyncio.gather(*(_extents(bus, ref) for ref in refs))
        places = {ref: rect for ref, rect in zip(refs, found, strict=True) if rect is not None}
        for destination in {ref[0] for ref in places}:
            if await self._is_relative(bus, destination):
                places = await self._moved(bus, destination, places)
        return places

    async def _is_relative(self, bus: AccessibilityBus, destination: str) -> bool:
        if destination not in self._inside_window:
            try:
                name = await bus.get(destination, ROOT, "Application", "ToolkitName")
                version = await bus.get(destination, ROOT, "Application", "Version")
            except NoAnswer:
                return False
            is_gtk = str(name).casefold() == "gtk"
            self._inside_window[destination] = is_gtk and not str(version).startswith(("2", "3"))
        return self._inside_window[destination]

    async def _moved(
        self, bus: AccessibilityBus, destination: str, places: Mapping[ElementRef, Rect]
    ) -> dict[ElementRef, Rect]:
        process = bus.process_of(destination)
        origin = await self._windows.content_origin(process) if process else None
        others = {ref: rect for ref, rect in places.items() if ref[0] != destination}
        if origin is None:
            return others
        own = {ref: rect.moved(origin.x, origin.y) for ref, rect in places.items() if ref[0] == destination}
        return {**others, **own}


async def _extents(bus: AccessibilityBus, ref: ElementRef) -> Rect | None:
    try:
        answer = await bus.call(*ref, f"{ATSPI}Component", "GetExtents", "u", SCREEN_COORDINATES)
    except NoAnswer:
        return None
    if not answer:
        return None
    x, y, width, height = answer[0]
    is_placed = width > 0 and height > 0 and abs(x) < FARTHEST and abs(y) < FARTHEST
    return Rect(x, y, width, height) if is_placed else None

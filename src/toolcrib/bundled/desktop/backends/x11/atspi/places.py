"""Where elements are on the screen.

GTK 4 does not know the position of its windows and gives places inside them. They are moved by the position
of the application's only window, or of the one with the title of the window that an element is in; if several
have that title they are unknown, because a guess could click on another element.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.bundled.desktop.backend import Element, ElementRef
from toolcrib.bundled.desktop.backends.x11.atspi.bus import ATSPI, AccessibilityBus
from toolcrib.bundled.desktop.backends.x11.atspi.calls import NoAnswer
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.geometry import Point, Rect

SCREEN_COORDINATES, WINDOW_COORDINATES = 0, 1
FIRST_IS_LOWEST = {"gtk", "gail", "qt"}
FARTHEST = 1 << 20
ROOT = "/org/a11y/atspi/accessible/root"


@dataclass(frozen=True)
class Question:
    """A point as a program understands it."""

    x: int
    y: int
    coordinates: int
    first_is_lowest: bool = False
    """It answers with the first of several children there, not with the topmost."""
    estimated: bool = False
    """Its first answer about a point is an estimate: it asks another process meanwhile."""

    @property
    def arguments(self) -> tuple[int, int, int]:
        return self.x, self.y, self.coordinates


class Places:
    def __init__(self, windows: X11Windows, around: Callable[[ElementRef], Sequence[Element]]) -> None:
        """`around` says which elements one is in, from itself to the root, as they were read last."""
        self._windows = windows
        self._around = around
        self._toolkits: dict[str, tuple[str, int]] = {}
        """Names and major versions, by program."""

    async def find(self, bus: AccessibilityBus, refs: Sequence[ElementRef]) -> Mapping[ElementRef, Rect]:
        """The rectangles of those that have one, asked for all at once."""
        found = await asyncio.gather(*(_extents(bus, ref) for ref in refs))
        return await self._corrected(
            bus, {ref: rect for ref, rect in zip(refs, found, strict=True) if rect is not None}
        )

    async def on_screen(self, bus: AccessibilityBus, ref: ElementRef, extents: Sequence[int]) -> Rect | None:
        """A place that a program gave, such as that of a part of a text."""
        rect = _rect(extents)
        return (await self._corrected(bus, {ref: rect})).get(ref) if rect is not None else None

    async def _corrected(
        self, bus: AccessibilityBus, places: Mapping[ElementRef, Rect]
    ) -> Mapping[ElementRef, Rect]:
        for destination in {ref[0] for ref in places}:
            if await self._is_relative(bus, destination):
                places = await self._moved(bus, destination, places)
        return places

    async def question(self, bus: AccessibilityBus, element: ElementRef, at: Point) -> Question | None:
        """How to ask the element's program about a point of the screen; None if it cannot be asked.

        Raises `NoAnswer`.
        """
        destination = element[0]
        name, _ = await self._toolkit(bus, destination)
        if not await self._is_relative(bus, destination):
            return Question(at.x, at.y, SCREEN_COORDINATES, name in FIRST_IS_LOWEST, name == "chromium")
        origin = await self._origin(bus, destination, self._title(element))
        return Question(at.x - origin.x, at.y - origin.y, WINDOW_COORDINATES) if origin is not None else None

    async def _is_relative(self, bus: AccessibilityBus, destination: str) -> bool:
        try:
            name, version = await self._toolkit(bus, destination)
        except NoAnswer:
            return False
        return name == "gtk" and version not in (2, 3)

    async def _toolkit(self, bus: AccessibilityBus, destination: str) -> tuple[str, int]:
        if destination not in self._toolkits:
            name = await bus.get(destination, ROOT, "Application", "ToolkitName")
            version = str(await bus.get(destination, ROOT, "Application", "Version"))
            major = int(version.partition(".")[0]) if version[:1].isdecimal() else 0
            self._toolkits[destination] = str(name).casefold(), major
        return self._toolkits[destination]

    async def _moved(
        self, bus: AccessibilityBus, destination: str, places: Mapping[ElementRef, Rect]
    ) -> dict[ElementRef, Rect]:
        moved = {ref: rect for ref, rect in places.items() if ref[0] != destination}
        titles = {ref: self._title(ref) for ref in places if ref[0] == destination}
        for title in set(titles.values()):
            origin = await self._origin(bus, destination, title)
            if origin is not None:
                own = (ref for ref in titles if titles[ref] == title)
                moved |= {ref: places[ref].moved(origin.x, origin.y) for ref in own}
        return moved

    async def _origin(self, bus: AccessibilityBus, destination: str, title: str) -> Point | None:
        process = bus.process_of(destination)
        return await self._windows.content_origin(process, title) if process else None

    def _title(self, ref: ElementRef) -> str:
        """The name of the window that an element is in; empty if that was not read."""
        return next(
            (element.name for element in reversed(self._around(ref)) if element.role != "application"), ""
        )


async def _extents(bus: AccessibilityBus, ref: ElementRef) -> Rect | None:
    try:
        answer = await bus.call(*ref, f"{ATSPI}Component", "GetExtents", "u", SCREEN_COORDINATES)
    except NoAnswer:
        return None
    return _rect(answer[0]) if answer else None


def _rect(extents: Sequence[int]) -> Rect | None:
    x, y, width, height = extents
    is_placed = width > 0 and height > 0 and abs(x) < FARTHEST and abs(y) < FARTHEST
    return Rect(x, y, width, height) if is_placed else None

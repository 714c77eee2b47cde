"""Elements of a Wayland session: without a place if their program is a Wayland program.

Such programs do not know where their windows are, and give places inside them; clicking there would hit
something else. Their elements can be read, activated and written to.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from toolcrib.bundled.desktop.backend import AtPoint, Element, ElementRef, Tree
from toolcrib.bundled.desktop.backends.wayland.windows import WaylandWindows
from toolcrib.bundled.desktop.backends.x11.atspi.accessibility import AtspiAccessibility
from toolcrib.bundled.desktop.geometry import Point, Rect


class WaylandAccessibility:
    def __init__(self, atspi: AtspiAccessibility, windows: WaylandWindows) -> None:
        self._atspi = atspi
        self._windows = windows

    async def tree(self, application: int, timeout: float) -> Tree:
        found = await self._atspi.tree(application, timeout)
        if application in await self._windows.programs_of_x11():
            return found
        elements = tuple(dataclasses.replace(each, rect=None) for each in found.elements)
        return dataclasses.replace(found, elements=elements)

    async def rects(self, elements: Collection[ElementRef]) -> Mapping[ElementRef, Rect]:
        placed = await self._placed(elements)
        return await self._atspi.rects(placed) if placed else {}

    async def read(self, element: ElementRef) -> Element | None:
        found = await self._atspi.read(element)
        if found is None or await self._placed([element]):
            return found
        return dataclasses.replace(found, rect=None)

    async def at_point(self, element: ElementRef, at: Point) -> AtPoint:
        return await self._atspi.at_point(element, at)

    async def text_rect(self, element: Element, start: int, end: int) -> Rect | None:
        placed = await self._placed([element.ref])
        return await self._atspi.text_rect(element, start, end) if placed else None

    async def texts(self, elements: Collection[Element]) -> Mapping[ElementRef, str]:
        return await self._atspi.texts(elements)

    async def actions(self, element: ElementRef) -> Sequence[str]:
        return await self._atspi.actions(element)

    async def act(self, element: ElementRef, action: str) -> bool:
        return await self._atspi.act(element, action)

    async def focus(self, element: ElementRef) -> bool:
        return await self._atspi.focus(element)

    async def write(self, element: ElementRef, value: str) -> bool:
        return await self._atspi.write(element, value)

    async def _placed(self, elements: Collection[ElementRef]) -> list[ElementRef]:
        """Those of X11 programs."""
        bus = await self._atspi.connect()
        of_x11 = await self._windows.programs_of_x11()
        return [ref for ref in elements if bus.process_of(ref[0]) in of_x11]

"""Lists displays through RandR: their place, scale (`Xft.dpi`), and where the pointer is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import xcffib.randr

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.backends.x11.connection import XConnection, XThread, text
from toolcrib.bundled.desktop.geometry import Point, Rect

USUAL_DPI = 96
_DPI = re.compile(r"^Xft\.dpi:\s*(\d{1,4}(?:\.\d{1,4})?)\s*$", re.MULTILINE)


class X11Displays:
    def __init__(self, thread: XThread) -> None:
        self._thread = thread

    async def list(self) -> Sequence[Display]:
        return await self._thread.run(list_displays)

    async def pointer(self) -> Point:
        return await self._thread.run(pointer_position)


def list_displays(connection: XConnection) -> list[Display]:
    monitors = connection.extension(xcffib.randr).GetMonitors(connection.root, True).reply().monitors
    scale = text_scale(connection)
    has_primary = any(monitor.primary for monitor in monitors)
    found = [
        Display(
            id=number,
            name=connection.atom_name(monitor.name),
            rect=Rect(monitor.x, monitor.y, monitor.width, monitor.height),
            primary=bool(monitor.primary) if has_primary else number == 0,
            scale=scale,
        )
        for number, monitor in enumerate(monitors)
    ]
    return found or [Display(0, "screen", screen_rect(connection), primary=True, scale=scale)]


def text_scale(connection: XConnection) -> float:
    """How much larger than usual programs draw, from the resource `Xft.dpi`; positions are pixels anyway."""
    reply = connection.get_property(connection.root, "RESOURCE_MANAGER").reply()
    found = _DPI.search(text(reply))
    return round(float(found[1]) / USUAL_DPI, 4) if found and float(found[1]) > 0 else 1.0


def pointer_position(connection: XConnection) -> Point:
    """Where the pointer is."""
    reply = connection.core.QueryPointer(connection.root).reply()
    return Point(reply.root_x, reply.root_y)


def screen_rect(connection: XConnection) -> Rect:
    """All displays together."""
    size = connection.core.GetGeometry(connection.root).reply()
    return Rect(0, 0, size.width, size.height)

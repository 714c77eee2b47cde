"""Pictures of the whole screen through the Screenshot portal, and the screen's size: how long to wait for the
user's permission, and the errors without a picture.

Screen positions are XWayland's if there is XWayland, because X11 windows have theirs in it; otherwise they
are the pixels of a screenshot. A picture of another size (a scaled display) is resized.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import cv2
import numpy
from dbus_fast import Variant

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.backends.wayland.portal import Portals
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

SCREENSHOT = "org.freedesktop.portal.Screenshot"
CONSENT_PATIENCE = 60.0
"""Seconds for the user to answer: the first screenshot of a program needs permission."""
LARGEST_FILE = 256 << 20
CLOCK_STEPS = 2.0
"""Seconds that the time of a file may lie before the request; some file systems round it."""


class WaylandScreen:
    def __init__(
        self, portals: Portals, x11_displays: Callable[[], Awaitable[Sequence[Display]]] | None
    ) -> None:
        self._portals = portals
        self._x11_displays = x11_displays
        self._size: tuple[int, int] | None = None

    async def displays(self) -> Sequence[Display]:
        """XWayland's; without it the whole screen as one."""
        if self._x11_displays is not None:
            return await self._x11_displays()
        return [Display(0, "screen", await self.rect(), primary=True)]

    async def rect(self) -> Rect:
        """All displays together."""
        if self._x11_displays is not None:
            return bounds([display.rect for display in await self._x11_displays()])
        if self._size is None:
            await self.picture()
        assert self._size is not None
        return Rect(0, 0, *self._size)

    async def picture(self) -> tuple[numpy.ndarray, Rect]:
        """The whole screen now, one pixel for each position, and where it is."""
        portal = await self._portals.get()
        if not await portal.version(SCREENSHOT):
            raise ToolFailure(
                "This desktop offers no screenshots to programs.",
                "Use the elements, the windows of X11 programs, or --headless 1280x800.",
            )
        asked = time.time()
        options = {"interactive": Variant("b", False), "modal": Variant("b", False)}
        results = await portal.request(
            SCREENSHOT, "Screenshot", "s", "", options=options, patience=CONSENT_PATIENCE
        )
        pixels = await in_thread(_take, str(results.get("uri", "")), asked)
        self._size = (pixels.shape[1], pixels.shape[0])
        rect = await self.rect()
        return _fitted(pixels, rect), rect


def bounds(rects: Sequence[Rect]) -> Rect:
    """The smallest rectangle around these; raises `ToolFailure` if there is none."""
    if not rects:
        raise ToolFailure("There is no display.", "Use --headless 1280x800.")
    return Rect.around(rects)


def _fitted(pixels: numpy.ndarray, rect: Rect) -> numpy.ndarray:
    if pixels.shape[:2] == (rect.height, rect.width):
        return pixels
    fitted: numpy.ndarray = cv2.resize(pixels, (rect.width, rect.height), interpolation=cv2.INTER_AREA)
    return fitted


def _take(uri: str, asked: float) -> numpy.ndarray:
    """Read the portal's file and remove it: desktops leave it among the user's pictures."""
    place = urlsplit(uri)
    file = Path(unquote(place.path))
    try:
        content = read_bounded(file, LARGEST_FILE) if place.scheme == "file" else b""
    except OSError:
        content = b""
    if not content:
        raise ToolFailure("The portal gave no picture.", "Try again, or use --headless 1280x800.")
    pixels = cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ToolFailure("The portal's picture cannot be read.", "Try again, or use --headless 1280x800.")
    if file.stat().st_mtime >= asked - CLOCK_STEPS:  # made for us
        file.unlink(missing_ok=True)
    found: numpy.ndarray = pixels
    return found

"""Pictures of a Wayland session: the screen through the portal, X11 windows through XWayland."""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Screenshot
from toolcrib.bundled.desktop.backends.wayland.screen import WaylandScreen
from toolcrib.bundled.desktop.backends.wayland.windows import WaylandWindows
from toolcrib.bundled.desktop.backends.x11.capture import X11Capture
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure


class WaylandCapture:
    def __init__(self, x11: X11Capture | None, screen: WaylandScreen, windows: WaylandWindows) -> None:
        self._x11 = x11
        self._screen = screen
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        pixels, whole = await self._screen.picture()
        part = whole if rect is None else rect.intersection(whole)
        if part.is_empty:
            raise ToolFailure(
                "The region is outside the screen.", f"The screen is {whole.width}x{whole.height}."
            )
        top, left = part.y - whole.y, part.x - whole.x
        cut = pixels[top : top + part.height, left : left + part.width]
        return Screenshot(cut.copy(), Point(part.x, part.y))

    async def window(self, window: int) -> Screenshot:
        if self._x11 is None or not self._windows.is_x11(window):
            raise ToolFailure(
                "A picture of a single Wayland window cannot be taken.",
                "Take a screenshot of the screen, or use --headless 1280x800.",
            )
        return await self._x11.window(window)

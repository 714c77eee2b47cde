"""Takes pictures of the screen with BitBlt, and of single windows with PrintWindow."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy

from toolcrib.bundled.desktop.backend import Screenshot
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.displays import Win32Displays
from toolcrib.bundled.desktop.backends.windows.structures import BitmapHeader, sizeof
from toolcrib.bundled.desktop.backends.windows.windows import Win32Windows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

COPY, LAYERED_TOO = 0x00CC0020, 0x40000000
INSIDE_ONLY, FULL_CONTENT = 1, 2
"""PW_CLIENTONLY, PW_RENDERFULLCONTENT: without the frame, with what the graphics card drew."""
BITS = 32


@dataclass(frozen=True)
class _Canvas:
    screen: int
    context: int
    bitmap: int
    before: int
    """The bitmap that the context had."""


class Win32Capture:
    def __init__(
        self, api: WindowsApi, worker: Worker, displays: Win32Displays, windows: Win32Windows
    ) -> None:
        self._api = api
        self._worker = worker
        self._displays = displays
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        return await self._worker.run(self._screen, rect)

    async def window(self, window: int) -> Screenshot:
        return await self._worker.run(self._window, window)

    def _screen(self, rect: Rect | None) -> Screenshot:
        whole = self._displays.whole()
        part = whole if rect is None else rect.intersection(whole)
        if part.is_empty:
            raise ToolFailure(
                "The region is outside the screen.",
                f"The screen is {whole.width}x{whole.height} at {whole.x},{whole.y}.",
            )
        with self._canvas(part.width, part.height) as canvas:
            place = (canvas.context, 0, 0, part.width, part.height, canvas.screen, part.x, part.y)
            if not self._api.gdi32.BitBlt(*place, COPY | LAYERED_TOO):
                raise ToolFailure("Windows gave no picture.", "The screen may be locked: ask the user.")
            pixels = self._read(canvas, part.width, part.height)
        return Screenshot(pixels, Point(part.x, part.y))

    def _window(self, window: int) -> Screenshot:
        found = self._windows.get(window)
        if found.minimised or found.rect.is_empty:
            raise ToolFailure(f"The window {window} is minimised.", "Restore it with focus_window first.")
        width, height = found.rect.width, found.rect.height
        with self._canvas(width, height) as canvas:
            if not self._api.user32.PrintWindow(window, canvas.context, INSIDE_ONLY | FULL_CONTENT):
                raise ToolFailure("The window gave no picture.", "Take a screenshot of the screen.")
            pixels = self._read(canvas, width, height)
        return Screenshot(pixels, Point(found.rect.x, found.rect.y))

    @contextlib.contextmanager
    def _canvas(self, width: int, height: int) -> Iterator[_Canvas]:
        """Of this size; freed at the end."""
        user, gdi = self._api.user32, self._api.gdi32
        screen = user.GetDC(None)
        context = gdi.CreateCompatibleDC(screen)
        bitmap = gdi.CreateCompatibleBitmap(screen, width, height)
        before = gdi.SelectObject(context, bitmap)
        try:
            if not bitmap:
                raise ToolFailure("Windows has no memory for a picture.", "Take a smaller region.")
            yield _Canvas(screen, context, bitmap, before)
        finally:
            gdi.SelectObject(context, before)
            gdi.DeleteObject(bitmap)
            gdi.DeleteDC(context)
            user.ReleaseDC(None, screen)

    def _read(self, canvas: _Canvas, width: int, height: int) -> numpy.ndarray:
        """A negative height asks for the rows from the top. The bitmap must not be selected meanwhile."""
        self._api.gdi32.SelectObject(canvas.context, canvas.before)
        header = BitmapHeader(sizeof(BitmapHeader), width, -height, 1, BITS)
        pixels = numpy.empty((height, width, BITS // 8), numpy.uint8)
        data = pixels.ctypes.data_as(ctypes.c_void_p)
        place = (canvas.context, canvas.bitmap, 0, height, data, ctypes.byref(header), 0)
        rows = self._api.gdi32.GetDIBits(*place)
        if rows != height:
            raise ToolFailure("Windows gave no picture.", "Try again.")
        converted: numpy.ndarray = cv2.cvtColor(pixels, cv2.COLOR_BGRA2BGR)
        return converted

"""Takes pictures of the screen and of single windows, one pixel for each point of the screen.

`CGWindowListCreateImage` is quick but may be missing in later versions of macOS; the system's own program
`screencapture` does the same then.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import cv2
import numpy

from toolcrib.bundled.desktop.backend import Screenshot
from toolcrib.bundled.desktop.backends.macos.displays import MacDisplays
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.permissions import require_screen_recording
from toolcrib.bundled.desktop.backends.macos.windows import MacWindows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

PROGRAM = "/usr/sbin/screencapture"
PROGRAM_PATIENCE = 8.0
BYTES_PER_PIXEL = 4
BYTE_ORDER_MASK, LITTLE_ENDIAN = 0x7000, 0x2000


class MacCapture:
    def __init__(self, mac: Frameworks, worker: Worker, displays: MacDisplays, windows: MacWindows) -> None:
        self._mac = mac
        self._quartz = mac.quartz
        self._worker = worker
        self._displays = displays
        self._windows = windows

    async def screen(self, rect: Rect | None = None) -> Screenshot:
        return await self._worker.run(self._screen, rect)

    async def window(self, window: int) -> Screenshot:
        return await self._worker.run(self._window, window)

    def _screen(self, rect: Rect | None) -> Screenshot:
        require_screen_recording(self._mac)
        whole = self._displays.whole()
        part = whole if rect is None else rect.intersection(whole)
        if part.is_empty:
            raise ToolFailure(
                "The region is outside the screen.",
                f"The screen is {whole.width}x{whole.height} at {whole.x},{whole.y}.",
            )
        quartz = self._quartz
        area = quartz.CGRectMake(part.x, part.y, part.width, part.height)
        pixels = self._picture(area, quartz.kCGWindowListOptionOnScreenOnly, quartz.kCGNullWindowID)
        if pixels is None:
            pixels = _run_program(["-R", f"{part.x},{part.y},{part.width},{part.height}"])
        return Screenshot(_fitted(pixels, part), Point(part.x, part.y))

    def _window(self, window: int) -> Screenshot:
        require_screen_recording(self._mac)
        found = self._windows.get(window)
        if found.minimised:
            raise ToolFailure(f"The window {window} is minimised.", "Restore it with focus_window first.")
        quartz = self._quartz
        pixels = self._picture(quartz.CGRectNull, quartz.kCGWindowListOptionIncludingWindow, window)
        if pixels is None:
            pixels = _run_program(["-o", "-l", str(window)])
        return Screenshot(_fitted(pixels, found.rect), Point(found.rect.x, found.rect.y))

    def _picture(self, area: Any, option: int, window: int) -> numpy.ndarray | None:
        """None if the system does not offer the function or gives no picture."""
        quartz = self._quartz
        function = getattr(quartz, "CGWindowListCreateImage", None)
        if function is None:
            return None
        options = quartz.kCGWindowImageBoundsIgnoreFraming | quartz.kCGWindowImageNominalResolution
        image = function(area, option, window, options)
        return self._pixels(image) if image is not None else None

    def _pixels(self, image: Any) -> numpy.ndarray | None:
        quartz = self._quartz
        width, height = quartz.CGImageGetWidth(image), quartz.CGImageGetHeight(image)
        if not width or not height or quartz.CGImageGetBitsPerPixel(image) != BYTES_PER_PIXEL * 8:
            return None
        data = quartz.CGDataProviderCopyData(quartz.CGImageGetDataProvider(image))
        row = quartz.CGImageGetBytesPerRow(image)
        little = quartz.CGImageGetBitmapInfo(image) & BYTE_ORDER_MASK == LITTLE_ENDIAN
        return convert_pixels(bytes(data), width, height, row, little=little)


def convert_pixels(data: bytes, width: int, height: int, row: int, *, little: bool) -> numpy.ndarray:
    """Blue, green, red from rows that may be padded: BGRA if the words are little-endian, else RGBA."""
    rows = numpy.frombuffer(data, numpy.uint8, height * row).reshape(height, row)
    pixels = rows[:, : width * BYTES_PER_PIXEL].reshape(height, width, BYTES_PER_PIXEL)
    converted: numpy.ndarray = cv2.cvtColor(pixels, cv2.COLOR_BGRA2BGR if little else cv2.COLOR_RGBA2BGR)
    return converted


def _fitted(pixels: numpy.ndarray, rect: Rect) -> numpy.ndarray:
    if pixels.shape[:2] == (rect.height, rect.width):
        return pixels
    fitted: numpy.ndarray = cv2.resize(pixels, (rect.width, rect.height), interpolation=cv2.INTER_AREA)
    return fitted


def _run_program(options: list[str]) -> numpy.ndarray:
    with tempfile.TemporaryDirectory(prefix="toolcrib-") as folder:
        file = Path(folder, "screen.png")
        command = [PROGRAM, "-x", "-t", "png", *options, str(file)]
        try:
            subprocess.run(command, timeout=PROGRAM_PATIENCE, check=True, capture_output=True)
            pixels = cv2.imdecode(numpy.fromfile(file, numpy.uint8), cv2.IMREAD_COLOR)
        except (OSError, subprocess.SubprocessError):
            pixels = None
    if pixels is None:
        raise ToolFailure("macOS gave no picture.", "The screen may be locked: ask the user.")
    found: numpy.ndarray = pixels
    return found

"""Lists displays through Quartz.

Screen positions are points, as everywhere on macOS; `scale` is the number of pixels in one.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.bundled.desktop.backend import Display
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.serverkit.context import ToolFailure

MOST_DISPLAYS = 32


class MacDisplays:
    def __init__(self, mac: Frameworks, worker: Worker) -> None:
        self._quartz = mac.quartz
        self._worker = worker

    async def list(self) -> Sequence[Display]:
        return await self._worker.run(self.list_now)

    def list_now(self) -> Sequence[Display]:
        """In the worker's thread."""
        error, ids, count = self._quartz.CGGetActiveDisplayList(MOST_DISPLAYS, None, None)
        if error or not count:
            raise ToolFailure("There is no display.", "Log in to the graphical session of this Mac.")
        main = self._quartz.CGMainDisplayID()
        return [
            self._describe(number, display == main, display) for number, display in enumerate(ids[:count])
        ]

    def whole(self) -> Rect:
        """All displays together; the main one starts at 0,0, so others may be at negative positions."""
        rects = [display.rect for display in self.list_now()]
        left, top = min(rect.x for rect in rects), min(rect.y for rect in rects)
        right = max(rect.x + rect.width for rect in rects)
        bottom = max(rect.y + rect.height for rect in rects)
        return Rect(left, top, right - left, bottom - top)

    def _describe(self, number: int, is_main: bool, display: int) -> Display:
        bounds = self._quartz.CGDisplayBounds(display)
        (x, y), (width, height) = (bounds.origin.x, bounds.origin.y), (bounds.size.width, bounds.size.height)
        rect = Rect(round(x), round(y), round(width), round(height))
        name = "main display" if is_main else f"display {number + 1}"
        return Display(int(display), name, rect, is_main, self._scale(display))

    def _scale(self, display: int) -> float:
        mode = self._quartz.CGDisplayCopyDisplayMode(display)
        points = self._quartz.CGDisplayModeGetWidth(mode) if mode is not None else 0
        return float(self._quartz.CGDisplayModeGetPixelWidth(mode) / points) if points else 1.0

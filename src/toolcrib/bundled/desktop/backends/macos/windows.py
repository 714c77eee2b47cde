"""Lists windows through Quartz, and moves, focuses and closes them through the Accessibility API.

The two know the same window under different names. They are matched by program, place and title, and an
ambiguous match is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.backends.macos.ax import Ax, AxElement, ElementGone, ProgramSilent
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.permissions import require_accessibility
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

NORMAL_LAYER = 0
"""Of ordinary windows; menus, the Dock and the menu bar are above."""
SMALLEST = 8
"""Points; programs keep invisible windows of one point."""
PATIENCE = 2.0
POLL = 0.02
IGNORE_OTHERS = 1 << 1
"""NSApplicationActivateIgnoringOtherApps."""
Info = Mapping[str, Any]


class MacWindows:
    def __init__(self, mac: Frameworks, worker: Worker) -> None:
        self._mac = mac
        self._ax = Ax(mac)
        self._worker = worker

    async def list(self) -> Sequence[Window]:
        return await self._worker.run(self.list_now)

    async def focus(self, window: int) -> Window:
        return await self._worker.run(self._focus, window)

    async def place(self, window: int, rect: Rect) -> Window:
        return await self._worker.run(self._place, window, rect)

    async def minimise(self, window: int) -> Window:
        return await self._worker.run(self._minimise, window)

    async def restore(self, window: int) -> Window:
        return await self._worker.run(self._focus, window)

    async def problem(self) -> None:
        return None

    async def close(self, window: int) -> bool:
        return await self._worker.run(self._close, window)

    def list_now(self) -> Sequence[Window]:
        """In the worker's thread. From the lowest to the topmost; minimised windows are the lowest."""
        quartz = self._mac.quartz
        on_screen = self._infos(quartz.kCGWindowListOptionOnScreenOnly)
        shown = {info[quartz.kCGWindowNumber] for info in on_screen}
        others = [info for info in self._infos(0) if info[quartz.kCGWindowNumber] not in shown]
        stack = [*self._minimised(others), *reversed(on_screen)]
        front = self._front(on_screen)
        hidden = {info[quartz.kCGWindowNumber] for info in stack} - shown
        return [
            self._window(level, info, front, info[quartz.kCGWindowNumber] in hidden)
            for level, info in enumerate(stack)
        ]

    def get(self, window: int) -> Window:
        for found in self.list_now():
            if found.id == window:
                return found
        raise ToolFailure(
            f"There is no window {window}; it may have been closed or be in another space.",
            "Call list_windows again.",
        )

    def owner_at(self, at: Point) -> int | None:
        """The program whose window is topmost at a point; menus and panels count."""
        element = self._ax.at(at.x, at.y)
        if element is not None:
            return self._ax.process(element)
        quartz = self._mac.quartz
        for info in self._infos(quartz.kCGWindowListOptionOnScreenOnly, every_layer=True):
            if _rect(info[quartz.kCGWindowBounds]).contains(at):
                return int(info[quartz.kCGWindowOwnerPID])
        return None

    def _infos(self, option: int, *, every_layer: bool = False) -> Sequence[Info]:
        quartz = self._mac.quartz
        options = option | quartz.kCGWindowListExcludeDesktopElements
        found: Iterable[Info] = quartz.CGWindowListCopyWindowInfo(options, quartz.kCGNullWindowID) or ()
        return [info for info in found if every_layer or self._is_ordinary(info)]

    def _is_ordinary(self, info: Info) -> bool:
        quartz = self._mac.quartz
        rect = _rect(info[quartz.kCGWindowBounds])
        return (
            info.get(quartz.kCGWindowLayer, NORMAL_LAYER) == NORMAL_LAYER
            and info.get(quartz.kCGWindowAlpha, 1.0) > 0
            and min(rect.width, rect.height) >= SMALLEST
        )

    def _minimised(self, infos: Sequence[Info]) -> Sequence[Info]:
        """Of the windows that are not shown, those that their programs call minimised."""
        quartz = self._mac.quartz
        if not self._mac.services.AXIsProcessTrusted():
            return []
        found = []
        for process in dict.fromkeys(info[quartz.kCGWindowOwnerPID] for info in infos):
            own = [info for info in infos if info[quartz.kCGWindowOwnerPID] == process]
            places = [place for _, place, _, minimised in self._ax_windows(process) if minimised]
            found += [info for info in own if _rect(info[quartz.kCGWindowBounds]) in places]
        return found

    def _front(self, on_screen: Sequence[Info]) -> int | None:
        """The id of the active window: the topmost of the program that has the focus."""
        quartz = self._mac.quartz
        process: int | None = None
        try:
            focused = self._ax.get(self._ax.system(), "AXFocusedApplication")
            process = self._ax.process(focused) if focused is not None else None
        except (ElementGone, ProgramSilent):
            pass
        own = [info for info in on_screen if process in (None, info[quartz.kCGWindowOwnerPID])]
        return int(own[0][quartz.kCGWindowNumber]) if own else None

    def _window(self, level: int, info: Info, front: int | None, minimised: bool) -> Window:
        quartz = self._mac.quartz
        number = int(info[quartz.kCGWindowNumber])
        return Window(
            id=number,
            title=str(info.get(quartz.kCGWindowName) or ""),
            application=int(info[quartz.kCGWindowOwnerPID]),
            window_class=str(info.get(quartz.kCGWindowOwnerName) or ""),
            rect=_rect(info[quartz.kCGWindowBounds]),
            level=level,
            active=number == front and not minimised,
            minimised=minimised,
        )

    def _ax_windows(self, process: int) -> Sequence[tuple[AxElement, Rect | None, str, bool]]:
        """A program's windows with place, title and whether they are minimised."""
        found = []
        try:
            for element in self._ax.get(self._ax.application(process), "AXWindows") or ():
                names = ("AXPosition", "AXSize", "AXTitle", "AXMinimized")
                values = self._ax.get_all(element, names)
                rect = self._ax.rect(values.get("AXPosition"), values.get("AXSize"))
                title, minimised = str(values.get("AXTitle") or ""), bool(values.get("AXMinimized"))
                found.append((element, rect, title, minimised))
        except (ElementGone, ProgramSilent):
            pass  # what was read so far is right
        return found

    def _element(self, window: Window) -> AxElement:
        """The element of a window; raises `ToolFailure` if it is not clear which."""
        require_accessibility(self._mac)
        assert window.application is not None
        same_place = [each for each in self._ax_windows(window.application) if each[1] == window.rect]
        same_title = [each for each in same_place if each[2] == window.title]
        matches = same_title or same_place
        if len(matches) == 1:
            return matches[0][0]
        problem = "is not offered to other programs" if not matches else "cannot be told from another one"
        raise ToolFailure(
            f"The window {window.title!r} {problem}, so nothing was done.",
            "Use its elements or the keyboard.",
        )

    def _focus(self, window: int) -> Window:
        found = self.get(window)
        element = self._element(found)
        if found.minimised:
            self._ax.set(element, "AXMinimized", False)
        self._activate(found)
        self._ax.perform(element, "AXRaise")
        self._ax.set(element, "AXMain", True)
        if not _until(lambda: self.get(window).active):
            raise ToolFailure(
                f"The window {window} did not become active.",
                "Another window may be modal: look at the screen.",
            )
        return self.get(window)

    def _activate(self, window: Window) -> None:
        assert window.application is not None
        running = self._mac.appkit.NSRunningApplication
        program = running.runningApplicationWithProcessIdentifier_(window.application)
        if program is not None:
            program.activateWithOptions_(IGNORE_OTHERS)
        self._ax.set(self._ax.application(window.application), "AXFrontmost", True)

    def _place(self, window: int, rect: Rect) -> Window:
        self._ax.place(self._element(self.get(window)), rect)
        _until(lambda: self.get(window).rect == rect, 0.5)  # programs may have a smallest size
        return self.get(window)

    def _minimise(self, window: int) -> Window:
        self._ax.set(self._element(self.get(window)), "AXMinimized", True)
        if not _until(lambda: self.get(window).minimised):
            raise ToolFailure(f"The window {window} cannot be minimised.")
        return self.get(window)

    def _close(self, window: int) -> bool:
        button = self._ax.get(self._element(self.get(window)), "AXCloseButton")
        if button is None:
            raise ToolFailure(f"The window {window} has no close button.", "Use the program's menu.")
        self._ax.perform(button, "AXPress")
        return _until(lambda: all(each.id != window for each in self.list_now()))


def _rect(bounds: Mapping[str, float]) -> Rect:
    return Rect(*(round(bounds[name]) for name in ("X", "Y", "Width", "Height")))


def _until(condition: Callable[[], bool], timeout: float = PATIENCE) -> bool:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL)
    return True

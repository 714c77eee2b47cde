"""Lists, moves, focuses and closes windows through the Windows API.

Places are physical pixels: the threads that call these functions are aware of each monitor's scale.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence

from toolcrib.bundled.desktop.backend import Window
from toolcrib.bundled.desktop.backends.windows.api import WindowCallback, WindowsApi
from toolcrib.bundled.desktop.backends.windows.structures import (
    InputRecord,
    NativePoint,
    NativeRect,
    key_record,
    sizeof,
)
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.serverkit.context import ToolFailure

EXTENDED_STYLE = -20
TOOL_WINDOW, APP_WINDOW, NO_ACTIVATE = 0x80, 0x40000, 0x08000000
CLOAKED = 14
"""DWMWA_CLOAKED: on another virtual desktop, or a suspended app."""
MINIMIZE, RESTORE = 6, 9
NO_Z_ORDER, NOT_ACTIVE, ASYNCHRONOUS = 0x4, 0x10, 0x4000
CLOSE_MESSAGE, NULL_MESSAGE = 0x10, 0
ABORT_IF_HUNG = 2
ALT, KEY_UP = 0x12, 2
FRAME_CLASS, APP_CLASS = "ApplicationFrameWindow", "Windows.UI.Core.CoreWindow"
PATIENCE = 2.0
PROMPT_PATIENCE = 0.3
POLL = 0.01
PING_PATIENCE = 1.5
LONGEST_NAME = 256


class Win32Windows:
    def __init__(self, api: WindowsApi, worker: Worker) -> None:
        self._api = api
        self._user = api.user32
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
        """In the worker's thread; from the lowest to the topmost."""
        handles: list[int] = []

        def add(handle: int | None, _: int) -> int:
            handles.append(handle or 0)
            return 1

        self._user.EnumWindows(WindowCallback(add), 0)
        shown = [handle for handle in reversed(handles) if self._is_shown(handle)]
        front = self._user.GetForegroundWindow()
        return [self._describe(level, handle, handle == front) for level, handle in enumerate(shown)]

    def get(self, window: int) -> Window:
        for found in self.list_now():
            if found.id == window:
                return found
        raise ToolFailure(
            f"There is no window {window}; it may have been closed.", "Call list_windows again."
        )

    def is_active(self, window: int) -> bool:
        return bool(self._user.GetForegroundWindow() == window)

    def place_of(self, window: int) -> Rect:
        """Where its inside is."""
        size, corner = NativeRect(), NativePoint()
        self._user.GetClientRect(window, ctypes.byref(size))
        self._user.ClientToScreen(window, ctypes.byref(corner))
        return size.to_rect().moved(corner.x, corner.y)

    def owners_at(self, at: Point) -> set[int]:
        """The processes whose windows are at a point, from the innermost window to the top-level one.

        A Store app's window lies in the frame of another process.
        """
        window = self._user.WindowFromPoint(NativePoint(at.x, at.y))
        owners: set[int] = set()
        while window:
            owners.add(self._process(window))
            window = self._user.GetParent(window)
        return owners

    def wait_until_ready(self, window: int) -> bool:
        """Whether the window answers; programs that hang do not."""
        answer = ctypes.c_size_t()
        milliseconds = int(PING_PATIENCE * 1000)
        sent = self._user.SendMessageTimeoutW(
            window, NULL_MESSAGE, 0, 0, ABORT_IF_HUNG, milliseconds, ctypes.byref(answer)
        )
        return bool(sent)

    def _is_shown(self, handle: int) -> bool:
        """As Alt+Tab decides it: visible, not cloaked, and with a title or meant for the taskbar."""
        style = self._user.GetWindowLongW(handle, EXTENDED_STYLE)
        if not self._user.IsWindowVisible(handle) or self._is_cloaked(handle):
            return False
        if style & APP_WINDOW:
            return True
        return not style & (TOOL_WINDOW | NO_ACTIVATE) and self._user.GetWindowTextLengthW(handle) > 0

    def _is_cloaked(self, handle: int) -> bool:
        cloaked = ctypes.c_uint32()
        failed = self._api.dwmapi.DwmGetWindowAttribute(handle, CLOAKED, ctypes.byref(cloaked), 4)
        return not failed and cloaked.value != 0

    def _describe(self, level: int, handle: int, active: bool) -> Window:
        kind = self._text(self._user.GetClassNameW, handle, LONGEST_NAME)
        length = self._user.GetWindowTextLengthW(handle)
        return Window(
            id=handle,
            title=self._text(self._user.GetWindowTextW, handle, length + 1),
            application=self._application(handle, kind),
            window_class=kind,
            rect=self.place_of(handle),
            level=level,
            active=active,
            minimised=bool(self._user.IsIconic(handle)),
        )

    def _text(self, function: Callable[..., int], handle: int, length: int) -> str:
        buffer = ctypes.create_unicode_buffer(length)
        function(handle, buffer, length)
        return buffer.value

    def _application(self, handle: int, kind: str) -> int:
        """The process; of a Store app the one inside the frame."""
        inside = self._user.FindWindowExW(handle, None, APP_CLASS, None) if kind == FRAME_CLASS else None
        return self._process(inside or handle)

    def _process(self, handle: int) -> int:
        process = ctypes.c_uint32()
        self._user.GetWindowThreadProcessId(handle, ctypes.byref(process))
        return process.value

    def _focus(self, window: int) -> Window:
        if self.get(window).minimised:
            self._user.ShowWindowAsync(window, RESTORE)
            _until(lambda: not self._user.IsIconic(window))
        self._user.SetForegroundWindow(window)
        if not _until(lambda: self.is_active(window), PROMPT_PATIENCE):
            self._tap_alt()  # Windows lets the program with the last input choose the foreground window
            self._user.SetForegroundWindow(window)
            self._user.BringWindowToTop(window)
        if not _until(lambda: self.is_active(window)):
            raise ToolFailure(
                f"The window {window} did not become active.",
                "Another window may be modal: look at the screen.",
            )
        self.wait_until_ready(window)
        return self.get(window)

    def _tap_alt(self) -> None:
        records = (InputRecord * 2)(key_record(ALT, 0, 0), key_record(ALT, 0, KEY_UP))
        self._user.SendInput(2, records, sizeof(InputRecord))

    def _place(self, window: int, rect: Rect) -> Window:
        """Around its inside comes the frame, which `SetWindowPos` counts too."""
        found = self.get(window)
        if found.minimised or self._user.IsZoomed(window):
            self._user.ShowWindowAsync(window, RESTORE)
            _until(lambda: not self._user.IsZoomed(window) and not self._user.IsIconic(window))
        outer = NativeRect()
        self._user.GetWindowRect(window, ctypes.byref(outer))
        place = around(rect, self.place_of(window), outer.to_rect())
        flags = NO_Z_ORDER | NOT_ACTIVE | ASYNCHRONOUS
        self._user.SetWindowPos(window, None, place.x, place.y, place.width, place.height, flags)
        _until(lambda: self.place_of(window) == rect, 0.5)  # programs may have a smallest size
        return self.get(window)

    def _minimise(self, window: int) -> Window:
        self.get(window)
        self._user.ShowWindowAsync(window, MINIMIZE)
        if not _until(lambda: bool(self._user.IsIconic(window))):
            raise ToolFailure(f"The window {window} cannot be minimised.")
        return self.get(window)

    def _close(self, window: int) -> bool:
        self.get(window)
        self._user.PostMessageW(window, CLOSE_MESSAGE, 0, 0)
        return _until(lambda: not self._user.IsWindow(window))


def around(wanted: Rect, inside: Rect, outside: Rect) -> Rect:
    """The outer rectangle for a wanted inner one, with a frame as it is now."""
    left, top = inside.x - outside.x, inside.y - outside.y
    return Rect(
        wanted.x - left,
        wanted.y - top,
        wanted.width + outside.width - inside.width,
        wanted.height + outside.height - inside.height,
    )


def _until(condition: Callable[[], bool], timeout: float = PATIENCE) -> bool:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL)
    return True

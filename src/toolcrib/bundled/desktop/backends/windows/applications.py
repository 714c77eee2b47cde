"""Lists, starts and ends programs on Windows."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import PureWindowsPath

from toolcrib.bundled.desktop.backend import Application, Window
from toolcrib.bundled.desktop.backends.windows.api import WindowsApi
from toolcrib.bundled.desktop.backends.windows.windows import CLOSE_MESSAGE, Win32Windows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.serverkit.context import ToolFailure

QUERY_LIMITED_INFORMATION, TERMINATE = 0x1000, 0x1
SHOW_NORMAL = 1
LAST_ERROR = 32
"""ShellExecute returns more than this if it succeeded."""
LONGEST_PATH = 32768
POLL = 0.25


class Win32Applications:
    def __init__(self, api: WindowsApi, worker: Worker, windows: Win32Windows, changes: Changes) -> None:
        self._api = api
        self._worker = worker
        self._windows = windows
        self._changes = changes

    async def list(self) -> Sequence[Application]:
        """The programs that have windows, the one in front first."""
        windows = await self._windows.list()
        kinds = {w.application: w.window_class for w in windows if w.application is not None}
        order = dict.fromkeys(w.application for w in reversed(windows) if w.application is not None)
        return await self._worker.run(lambda: [self._describe(each, kinds[each]) for each in order])

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        """By the name or path of a program, as the Run dialog does; its first new window."""
        before = {window.id for window in await self._windows.list()}
        with self._changes.listen() as changes:
            await self._worker.run(self._start, list(command))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    while True:
                        new = [each for each in await self._windows.list() if each.id not in before]
                        if new:
                            return await self._worker.run(self._best, new, command[0])
                        await changes.next(POLL)
        return None

    async def close(self, application: int, *, force: bool) -> None:
        """Ask its windows to close, or end it; raises `ToolFailure` if it is not there."""
        own = [each.id for each in await self._windows.list() if each.application == application]
        if not own:
            raise ToolFailure(f"No application with the id {application} has a window here.")
        if force:
            await self._worker.run(self._terminate, application)
            return
        for window in own:
            await self._worker.run(self._api.user32.PostMessageW, window, CLOSE_MESSAGE, 0, 0)

    def _start(self, command: Sequence[str]) -> None:
        arguments = subprocess.list2cmdline(command[1:]) or None
        result = self._api.shell32.ShellExecuteW(None, "open", command[0], arguments, None, SHOW_NORMAL)
        if (result or 0) <= LAST_ERROR:
            raise ToolFailure(
                f"The program {command[0]!r} was not found.", "Give its name or its path, such as notepad."
            )

    def _best(self, windows: Sequence[Window], name: str) -> Window:
        """The one of a program of that name; else the topmost."""
        wanted = PureWindowsPath(name).stem.casefold()
        for window in reversed(windows):
            executable = self._executable(window.application) if window.application is not None else ""
            if PureWindowsPath(executable).stem.casefold() == wanted:
                return window
        return windows[-1]

    def _describe(self, process: int, window_class: str) -> Application:
        executable = self._executable(process)
        name = PureWindowsPath(executable).stem or window_class
        return Application(process, name, window_class, executable, accessible=True)

    def _executable(self, process: int) -> str:
        kernel = self._api.kernel32
        handle = kernel.OpenProcess(QUERY_LIMITED_INFORMATION, 0, process)
        if not handle:
            return ""
        try:
            buffer, size = ctypes.create_unicode_buffer(LONGEST_PATH), ctypes.c_uint32(LONGEST_PATH)
            done = kernel.QueryFullProcessImageNameW(handle, 0, buffer, ctypes.byref(size))
            return buffer.value if done else ""
        finally:
            kernel.CloseHandle(handle)

    def _terminate(self, process: int) -> None:
        kernel = self._api.kernel32
        handle = kernel.OpenProcess(TERMINATE, 0, process)
        if not handle:
            raise ToolFailure(f"Windows does not let the program {process} be ended.", "Close its windows.")
        try:
            kernel.TerminateProcess(handle, 1)
        finally:
            kernel.CloseHandle(handle)

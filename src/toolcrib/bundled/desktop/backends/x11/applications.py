"""Lists, starts and ends programs on a display."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from toolcrib.bundled.desktop.backend import Application, Window
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.serverkit.context import ToolFailure

POLL = 0.25
END_PATIENCE = 5.0


class X11Applications:
    def __init__(
        self,
        target: DisplayTarget,
        windows: X11Windows,
        changes: Changes,
        accessible: Callable[[], Collection[int]],
    ) -> None:
        self._target = target
        self._windows = windows
        self._changes = changes
        self._accessible = accessible

    async def list(self) -> Sequence[Application]:
        """The programs that have windows, the one in front first."""
        found: dict[int, Application] = {}
        for window in reversed(await self._windows.list()):
            if window.application is not None and window.application not in found:
                found[window.application] = self._describe(window.application, window.window_class)
        return list(found.values())

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        program = shutil.which(command[0], path=self._target.environment.get("PATH"))
        if program is None:
            raise ToolFailure(f"The program {command[0]!r} was not found.", "Give its name or its path.")
        before = {window.id for window in await self._windows.list()}
        with self._changes.listen() as changes:
            process = await asyncio.to_thread(self._start, [program, *command[1:]])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    while True:
                        window = await self._first_window(process, before)
                        if window is not None:
                            return window
                        if process.poll() not in (None, 0):
                            raise ToolFailure(f"{command[0]} ended with code {process.returncode}.")
                        await changes.next(POLL)
        return None

    async def close(self, application: int, *, force: bool) -> None:
        """Ask it to end, or kill it; raises `ToolFailure` if it does not."""
        known = {each.id for each in await self.list()}
        if application not in known:
            raise ToolFailure(f"No application with the id {application} has a window here.")
        with contextlib.suppress(ProcessLookupError):
            os.kill(application, signal.SIGKILL if force else signal.SIGTERM)

    async def _first_window(self, process: subprocess.Popen[bytes], before: set[int]) -> Window | None:
        """A new window of this process, or of one that it started or handed over to."""
        new = [window for window in await self._windows.list() if window.id not in before]
        own = [window for window in new if window.application == process.pid]
        handed_over = process.poll() == 0 or any(_descends(w.application, process.pid) for w in new)
        return next(iter(own or (new if handed_over else [])), None)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        group = self._target.process_group
        process = subprocess.Popen(
            command,
            env=dict(self._target.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._target.environment.get("HOME", "/"),
            process_group=group if group is not None else 0,
        )
        _reap(process)
        return process

    def _describe(self, process: int, window_class: str) -> Application:
        executable = ""
        with contextlib.suppress(OSError):
            executable = str(Path(f"/proc/{process}/exe").readlink())
        name = window_class or Path(executable).name
        return Application(process, name, window_class, executable, process in self._accessible())


def _descends(process: int | None, ancestor: int) -> bool:
    """Whether a process was started by another, directly or not."""
    while process is not None and process > 1:
        if process == ancestor:
            return True
        try:
            stat = Path(f"/proc/{process}/stat").read_text()
        except OSError:
            return False
        process = int(stat.rpartition(")")[2].split()[1])
    return False


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Collect its exit code, so that no zombie stays."""
    threading.Thread(target=process.wait, name=f"wait-{process.pid}", daemon=True).start()

"""Lists, starts and ends programs on a display. Decides how the first window of a program is recognized, also
if it was running already, and what of its error output is shown if it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from toolcrib.bundled.desktop.backend import Application, Window
from toolcrib.bundled.desktop.backends.x11.target import DisplayTarget
from toolcrib.bundled.desktop.backends.x11.windows import X11Windows
from toolcrib.bundled.desktop.changes import ChangeListener, Changes
from toolcrib.bundled.desktop.deadline import STEP, Deadline, slowness
from toolcrib.serverkit.context import ToolFailure

POLL = 0.25
HANDOVER = 2.0
"""Seconds after the end of a process for what it has handed over to to show something, on a quiet machine."""
MAX_ERRORS = 1 << 20
"""Bytes of what a running program wrote to stderr."""
SHOWN_LINES, SHOWN_CHARACTERS = 3, 400
OPENED = "TOOLCRIB_OPENED"
"""Set for a program that is opened, and so for those that it starts."""


@dataclass(frozen=True)
class _Started:
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    """A file without a name: a pipe would end the program when nobody reads it any more."""
    token: str

    def is_over(self) -> bool:
        """Whether neither it nor a program that it started is running; reads the disk."""
        wanted = f"{OPENED}={self.token}".encode()
        for file in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if wanted in file.read_bytes():
                    return False
        return True

    def ended(self, name: str) -> ToolFailure:
        """How it ended, and its last message."""
        code = self.process.returncode
        how = (
            f"was ended by the signal {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        self.errors.seek(max(0, self.errors.seek(0, os.SEEK_END) - 4 * SHOWN_CHARACTERS))
        said = [line.strip() for line in self.errors.read().decode("utf-8", "replace").splitlines()]
        last = "\n".join([line for line in said if line][-SHOWN_LINES:])[-SHOWN_CHARACTERS:]
        shown = f": {last}" if last else "."
        if code:
            return ToolFailure(f"{name} {how}{shown}", "Correct its arguments, or open it another way.")
        return ToolFailure(
            f"{name} {how} and shows no window{shown}",
            "It may have done its work, or handed it to a program that was running: look with list_windows.",
        )


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
        self._started: list[_Started] = []

    async def list(self) -> Sequence[Application]:
        """The programs that have windows, the one in front first."""
        self._trim()
        found: dict[int, Application] = {}
        for window in reversed(await self._windows.list()):
            if window.application is not None and window.application not in found:
                found[window.application] = self._describe(window.application, window.window_class)
        return list(found.values())

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        program = shutil.which(command[0], path=self._target.environment.get("PATH"))
        if program is None:
            raise ToolFailure(f"The program {command[0]!r} was not found.", "Give its name or its path.")
        before = {window.id: window for window in await self._windows.list()}
        with self._changes.listen() as changes:
            started = await asyncio.to_thread(self._start, [program, *command[1:]])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    return await self._shown(started, command[0], program, before, changes)
        ended = started.process.poll() == 0
        return await self._running(program, before, changed_only=False) if ended else None

    async def _shown(
        self,
        started: _Started,
        name: str,
        program: str,
        before: Mapping[int, Window],
        changes: ChangeListener,
    ) -> Window:
        """The window, without a limit of time; raises `ToolFailure` if the program ends without one."""
        handover: Deadline | None = None
        while True:
            window = await self._first_window(started.process, before)
            if window is not None:
                return window
            if started.process.poll() not in (None, 0):
                raise started.ended(name)
            if started.process.poll() == 0:
                handover = handover or Deadline(HANDOVER * slowness())
                left = handover.look()
                shown = await self._running(program, before, changed_only=left > 0)
                if shown is not None:
                    return shown
                if left <= 0 and await asyncio.to_thread(started.is_over):
                    raise started.ended(name)
            await changes.next(POLL if handover is None else STEP)

    async def close(self, application: int, *, force: bool) -> None:
        """Ask it to end, or kill it; raises `ToolFailure` if it does not."""
        known = {program.id for program in await self.list()}
        if application not in known:
            raise ToolFailure(f"No application with the id {application} has a window here.")
        with contextlib.suppress(ProcessLookupError):
            os.kill(application, signal.SIGKILL if force else signal.SIGTERM)

    async def _first_window(self, process: subprocess.Popen[bytes], before: Collection[int]) -> Window | None:
        """A new window of this process, or of one that it started or handed over to."""
        new = [window for window in await self._windows.list() if window.id not in before]
        own = [window for window in new if window.application == process.pid]
        handed_over = process.poll() == 0 or any(_descends(w.application, process.pid) for w in new)
        return next(iter(own or (new if handed_over else [])), None)

    async def _running(
        self, program: str, before: Mapping[int, Window], *, changed_only: bool
    ) -> Window | None:
        """The window of an instance that was running: one with a new title, else one in front."""
        listed = [window for window in await self._windows.list() if window.id in before]
        own = [window for window in listed if self._runs(window, program)]
        changed = [window for window in own if window.title != before[window.id].title]
        candidates = changed if changed_only else changed or own
        return max(candidates, key=lambda window: (window.active, window.level), default=None)

    def _runs(self, window: Window, program: str) -> bool:
        """Whether it is a window of this program, which may be a script that starts it."""
        name, real = Path(program).name.casefold(), Path(program).resolve()
        if window.window_class.casefold() == name:
            return True
        if window.application is None:
            return False
        folder = Path(f"/proc/{window.application}")
        try:
            executable, words = (folder / "exe").readlink(), (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        together = executable.parent == real.parent and real.parent.name not in ("bin", "sbin", "games")
        named = {os.fsencode(program), os.fsencode(real)} & set(words[:3])
        return executable.name.casefold() == name or together or bool(named)

    def _start(self, command: Sequence[str]) -> _Started:
        errors, token = tempfile.TemporaryFile("a+b"), secrets.token_hex(8)  # noqa: SIM115 - kept while it runs
        group = self._target.process_group
        process = subprocess.Popen(
            command,
            env={**self._target.environment, OPENED: token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=self._target.environment.get("HOME", "/"),
            process_group=group if group is not None else 0,
        )
        _reap(process)
        self._started.append(_Started(process, errors, token))
        return self._started[-1]

    def _trim(self) -> None:
        """Forget what programs have written to stderr since they were opened, and those that have ended."""
        for program in list(self._started):
            if program.process.poll() is not None:
                self._started.remove(program)
            elif os.fstat(program.errors.fileno()).st_size > MAX_ERRORS:
                program.errors.truncate(0)

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

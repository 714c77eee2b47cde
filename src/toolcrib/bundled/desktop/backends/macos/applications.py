"""Lists, starts and ends programs on macOS."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from toolcrib.bundled.desktop.backend import Application, Window
from toolcrib.bundled.desktop.backends.macos.frameworks import Frameworks
from toolcrib.bundled.desktop.backends.macos.windows import MacWindows
from toolcrib.bundled.desktop.backends.worker import Worker
from toolcrib.bundled.desktop.changes import Changes
from toolcrib.serverkit.context import ToolFailure

OPEN = "/usr/bin/open"
OPEN_PATIENCE = 10.0
POLL = 0.25


class MacApplications:
    def __init__(self, mac: Frameworks, worker: Worker, windows: MacWindows, changes: Changes) -> None:
        self._mac = mac
        self._worker = worker
        self._windows = windows
        self._changes = changes

    async def list(self) -> Sequence[Application]:
        """The programs that have windows, the one in front first."""
        windows = await self._windows.list()
        names = {w.application: w.window_class for w in reversed(windows) if w.application is not None}
        return await self._worker.run(
            lambda: [self._describe(process, name) for process, name in names.items() if process is not None]
        )

    async def open(self, command: Sequence[str], timeout: float) -> Window | None:
        """By the name, bundle id or path of an application; a new window of it, or of one in front."""
        before = {window.id for window in await self._windows.list()}
        with self._changes.listen() as changes:
            await asyncio.to_thread(_open, command)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    while True:
                        new = [each for each in await self._windows.list() if each.id not in before]
                        if new:
                            return new[-1]
                        await changes.next(POLL)
        return None

    async def close(self, application: int, *, force: bool) -> None:
        """Ask it to end, or end it; raises `ToolFailure` if it is not there."""
        done = await self._worker.run(self._close, application, force)
        if not done:
            raise ToolFailure(f"The application {application} could not be closed.", "It may have ended.")

    def _running(self, process: int) -> Any:
        running = self._mac.appkit.NSRunningApplication
        return running.runningApplicationWithProcessIdentifier_(process)

    def _describe(self, process: int, name: str) -> Application:
        program = self._running(process)
        trusted = bool(self._mac.services.AXIsProcessTrusted())
        if program is None:
            return Application(process, name, accessible=trusted)
        place = program.executableURL()
        return Application(
            id=process,
            name=str(program.localizedName() or name),
            window_class=str(program.bundleIdentifier() or ""),
            executable=str(place.path()) if place is not None else "",
            accessible=trusted,
        )

    def _close(self, process: int, force: bool) -> bool:
        program = self._running(process)
        if program is None:
            return False
        return bool(program.forceTerminate() if force else program.terminate())


def open_arguments(command: Sequence[str]) -> list[str]:
    """The arguments of `open`: for an application's path, its bundle id or its name."""
    name, rest = command[0], list(command[1:])
    looks_like_id = "." in name and "/" not in name and not name.endswith(".app")
    chosen = ["-b", name] if looks_like_id else ["-a", name]
    return [*chosen, *(["--args", *rest] if rest else [])]


def _open(command: Sequence[str]) -> None:
    path = Path(command[0])
    is_program = path.is_absolute() and path.is_file()
    if is_program and ".app/" not in command[0]:
        subprocess.Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, cwd="/")
        return
    name = command[0].partition(".app/")[0] + ".app" if ".app/" in command[0] else command[0]
    try:
        done = subprocess.run(
            [OPEN, *open_arguments([name, *command[1:]])],
            timeout=OPEN_PATIENCE,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolFailure(f"{command[0]} could not be started: {error}.") from None
    if done.returncode:
        raise ToolFailure(
            f"No application is called {command[0]!r}.", "Give its name, bundle id or path, such as TextEdit."
        )

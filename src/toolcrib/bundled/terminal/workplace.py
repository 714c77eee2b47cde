"""Starts commands in a folder, in the sandbox and under limits; finds files there."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from toolcrib.bundled.terminal.environment import SHELL, environment
from toolcrib.bundled.terminal.guards import guard
from toolcrib.bundled.terminal.processes import RunningCommand
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.own_places import is_home, is_store, own_holding

CEILING = 120.0
"""Seconds that a command may take in the foreground."""
GIB = 1024 * 1024 * 1024


@dataclass(kw_only=True)
class Workplace:
    """`folder` is asked for each time: a host serves sessions in different folders.

    The others may be replaced; commands that are running stay as they were started.
    """

    folder: Callable[[], Path]
    sandbox: Sandbox = field(default_factory=Sandbox)
    variables: Sequence[str] = ()
    """Names of further environment variables that commands may see."""
    max_processes: int = 500
    max_memory: int = 8 * GIB
    max_disk: int = 16 * GIB
    """For the temporary files of its commands."""
    max_file: int = 0
    """For each file that a command writes; 0 for no limit. With one, the working folder is temporary too."""

    def place(self, cwd: str | None) -> str:
        """The folder to run in; relative ones start at the working folder. Raises `ToolFailure`."""
        folder = self.folder() if cwd is None else self.folder() / Path(cwd).expanduser()
        if not folder.is_dir():
            raise ToolFailure(f"{str(folder)!r} is not a folder.", f"The working folder is {self.folder()}.")
        return str(folder.resolve())

    def searchable(self, directory: str | None) -> Path:
        """A folder that may be searched: the working folder, one of those named beside it, or one inside.

        Raises `ToolFailure`.
        """
        folder = Path(self.place(directory))
        named = (Path(name).expanduser() for name in self.sandbox.folders)
        allowed = [path.resolve() for path in (self.folder(), *named)]
        if any(folder.is_relative_to(root) for root in allowed) and not self.is_closed(folder):
            return folder
        raise ToolFailure(
            f"{str(folder)!r} may not be searched.", f"Allowed: {', '.join(map(str, allowed))}."
        )

    def is_closed(self, folder: Path) -> bool:
        """Whether a folder holds secrets or is Toolcrib's own."""
        if own_holding(folder, self.folder().resolve()) or is_home(folder) or is_store(folder):
            return True
        return any(
            folder.is_relative_to(Path(hidden).expanduser().resolve()) for hidden in self.sandbox.hidden
        )

    def shell(
        self, command: str, cwd: str | None, *, guarded: bool = False, pty: bool = False, feed: bool = False
    ) -> RunningCommand:
        """Start a shell command; `guarded` lets the parts of it that only read do nothing else."""
        if "\0" in command:
            raise ToolFailure("A command cannot contain a null character.")
        if guarded:
            command = guard(command, cwd or "", str(self.folder()))
        argv = [SHELL, "--noprofile", "--norc", "-c", command]
        return self.start(argv, self.place(cwd), pty=pty, feed=feed)

    def start(
        self,
        argv: Sequence[str],
        folder: str,
        *,
        pty: bool = False,
        feed: bool = False,
        errors: bool = False,
    ) -> RunningCommand:
        """Start a program, in the sandbox and under the limits; `errors` keeps its stderr apart."""
        own = str(self.folder())
        order = {
            **self.sandbox.confine(argv, own, folder),
            "cwd": folder,
            "max_processes": self.max_processes,
            "max_memory": self.max_memory,
            **self._disk_limits(own),
        }
        seen = environment(own, more=self.variables, pty=pty, temporary=self.sandbox.temporary(own))
        return RunningCommand.start(order, seen, pty=pty, feed=feed, errors=errors)

    def _disk_limits(self, folder: str) -> dict[str, Any]:
        if self.sandbox.kind == "none":
            return {}
        measured, new = [str(self.sandbox.scratch.of(folder))], bool(self.max_file)
        limits = {"max_disk": self.max_disk, "max_file": self.max_file}
        # Where files are limited one by one, all are of this command; else some are left from earlier ones.
        return {**limits, "measured": [*measured, *([folder] if new else [])], "from_now": not new}


async def finished(running: RunningCommand, seconds: float) -> bool:
    """Wait for the end; a timeout or a cancellation ends the command with all its processes."""
    try:
        async with asyncio.timeout(seconds):
            await running.done.wait()
    except TimeoutError:
        await _stopped(running)
        return False
    except asyncio.CancelledError:
        try:
            await _stopped(running)
        finally:
            if (report := caller_context.ended.get()) is not None:
                report(running.ended)
        raise
    return True


async def _stopped(running: RunningCommand) -> None:
    """End it and wait, even if the caller is cancelled again; takes a moment at most."""
    stopping = asyncio.ensure_future(running.stop())
    cancelled = False
    while not stopping.done():
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


MOST_FOUND = 500
MOST_LOOKED_AT = 200_000
SECONDS = 10.0
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})


def find(pattern: str, folder: Path, is_closed: Callable[[Path], bool]) -> str:
    """The paths, relative to the folder, and a note on what was left out; closed folders are not entered."""
    found: list[str] = []
    until = time.monotonic() + SECONDS
    for looked_at, relative in enumerate(_walk(folder, is_closed), start=1):
        if _fits(relative, pattern):
            found.append(relative)
        if len(found) >= MOST_FOUND:
            return _listing(found, f"[The first {MOST_FOUND}; there are more.]")
        if looked_at >= MOST_LOOKED_AT or time.monotonic() > until:
            return _listing(found, f"[Stopped after {looked_at} files.]")
    return _listing(found, "")


def _walk(folder: Path, is_closed: Callable[[Path], bool]) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        open_ones = (name for name in folders if name not in SKIPPED and not is_closed(Path(place, name)))
        folders[:] = sorted(open_ones)
        inside = os.path.relpath(place, folder)
        prefix = "" if inside == "." else f"{inside}/"
        yield from (f"{prefix}{name}" for name in sorted(files))


def _fits(relative: str, pattern: str) -> bool:
    if "/" not in pattern:
        return fnmatch(relative.rpartition("/")[2], pattern)
    return fnmatch(relative, pattern) or fnmatch(relative, pattern.replace("**/", ""))


def _listing(found: list[str], note: str) -> str:
    return "\n".join([*found, *filter(None, [note])]) or "No file matches."

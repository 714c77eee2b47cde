"""Where commands run and under which limits; the one place that starts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.bundled.terminal.guards import guard
from toolcrib.bundled.terminal.running import Running
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.surroundings import SHELL, environment
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.failure import ToolFailure
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

    def place(self, cwd: str | None) -> str:
        """The folder to run in; relative ones start at the working folder. Raises `ToolFailure`."""
        folder = self.folder() if cwd is None else self.folder() / Path(cwd).expanduser()
        if not folder.is_dir():
            raise ToolFailure(f"{str(folder)!r} is no folder.", f"The working folder is {self.folder()}.")
        return str(folder.resolve())

    def searchable(self, directory: str | None) -> Path:
        """A folder that may be searched: the working folder, one of those named beside it, or one inside.

        Raises `ToolFailure`.
        """
        folder = Path(self.place(directory))
        named = (Path(each).expanduser() for each in self.sandbox.folders)
        allowed = [each.resolve() for each in (self.folder(), *named)]
        if any(folder.is_relative_to(each) for each in allowed) and not self.is_closed(folder):
            return folder
        raise ToolFailure(
            f"{str(folder)!r} may not be searched.", f"Allowed: {', '.join(map(str, allowed))}."
        )

    def is_closed(self, folder: Path) -> bool:
        """Whether a folder holds secrets or is Toolcrib's own."""
        if own_holding(folder, self.folder().resolve()) or is_home(folder) or is_store(folder):
            return True
        return any(folder.is_relative_to(Path(each).expanduser().resolve()) for each in self.sandbox.hidden)

    def shell(
        self, command: str, cwd: str | None, *, guarded: bool = False, pty: bool = False, feed: bool = False
    ) -> Running:
        """Start a shell command; `guarded` lets the parts of it that only read do nothing else."""
        if "\0" in command:
            raise ToolFailure("A command cannot hold a null character.")
        if guarded:
            command = guard(command, cwd or "", str(self.folder()))
        argv = [SHELL, "--noprofile", "--norc", "-c", command]
        return self.start(argv, self.place(cwd), pty=pty, feed=feed)

    def start(self, argv: Sequence[str], folder: str, *, pty: bool = False, feed: bool = False) -> Running:
        """Start a program, in the sandbox and under the limits."""
        own = str(self.folder())
        order = {
            **self.sandbox.confine(argv, own, folder),
            "cwd": folder,
            "max_processes": self.max_processes,
            "max_memory": self.max_memory,
        }
        seen = environment(own, more=self.variables, pty=pty, temporary=self.sandbox.temporary(own))
        return Running.start(order, seen, pty=pty, feed=feed)


async def finished(running: Running, seconds: float) -> bool:
    """Wait for the end, so long; whoever is cancelled here ends the command with all it started."""
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
            if (tell := caller_context.ended.get()) is not None:
                tell(running.ended)
        raise
    return True


async def _stopped(running: Running) -> None:
    """End it and wait for that, however often the one who waits is cancelled; it takes a moment at most."""
    stopping = asyncio.ensure_future(running.stop())
    cancelled = False
    while not stopping.done():
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError

"""Where commands run and under which limits; the one place that starts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.bundled.terminal.running import Running
from toolcrib.bundled.terminal.sandbox import Sandbox
from toolcrib.bundled.terminal.surroundings import SHELL, environment
from toolcrib.serverkit.failure import ToolFailure

CEILING = 120.0
"""Seconds that a command may take in the foreground."""
GIB = 1024 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Workplace:
    """`folder` is asked for each time: a host serves sessions in different folders."""

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

    def shell(self, command: str, cwd: str | None, *, pty: bool = False, feed: bool = False) -> Running:
        """Start a shell command."""
        if "\0" in command:
            raise ToolFailure("A command cannot hold a null character.")
        argv = [SHELL, "--noprofile", "--norc", "-c", command]
        return self.start(argv, self.place(cwd), pty=pty, feed=feed)

    def start(self, argv: Sequence[str], folder: str, *, pty: bool = False, feed: bool = False) -> Running:
        """Start a program, in the sandbox and under the limits."""
        order = {
            **self.sandbox.confine(argv, str(self.folder())),
            "cwd": folder,
            "max_processes": self.max_processes,
            "max_memory": self.max_memory,
        }
        return Running.start(
            order, environment(str(self.folder()), more=self.variables, pty=pty), pty=pty, feed=feed
        )


async def finished(running: Running, seconds: float) -> bool:
    """Wait for the end, so long; whoever is cancelled here ends the command with all it started."""
    try:
        async with asyncio.timeout(seconds):
            await running.done.wait()
    except TimeoutError:
        await running.stop()
        return False
    except asyncio.CancelledError:
        await running.stop()
        raise
    return True

"""Sees to it that no server process outlives its host, however the host ends.

On a clean end the transports have ended everything already. When the host is killed, the watchdog ends what
is left within a second or two. When the watchdog is killed too, the next host on the same home sweeps.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.config.atomic import write_atomic
from toolcrib.servers.processes import orphans, watchdog

TOKEN_BYTES = 12


class ProcessGuard:
    """Knows every process group of this host."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._count = 0

    def new_marker(self) -> str:
        """The marker for the next process; it begins with the host's token."""
        self._count += 1
        return f"{self.token}.{self._count}."

    def spawned(self, group: int) -> None:
        """A server process runs."""
        self._groups.add(group)
        if self._watched():
            self._tell(f"+ {group}\n")
            return
        self._watchdog = _start_watchdog(self.token)
        self._tell("".join(f"+ {known}\n" for known in self._groups))

    def exited(self, group: int) -> None:
        """Nothing of that group is left."""
        self._groups.discard(group)
        if self._watched():
            self._tell(f"- {group}\n")

    def close(self) -> None:
        """Let the watchdog go, which ends what is left."""
        if self._watchdog is None or self._watchdog.stdin is None:
            return
        if not self._groups:
            self._tell(watchdog.DONE)
        with contextlib.suppress(OSError):
            self._watchdog.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._watchdog.wait(timeout=3)

    def _watched(self) -> bool:
        return self._watchdog is not None and self._watchdog.poll() is None

    def _tell(self, lines: str) -> None:
        assert self._watchdog is not None
        assert self._watchdog.stdin is not None
        with contextlib.suppress(OSError):
            self._watchdog.stdin.write(lines.encode())


def _start_watchdog(token: str) -> subprocess.Popen[bytes]:
    """A process of its own session, so that Ctrl-C in a terminal does not reach it.

    Nor does it carry our own marker: where this host is itself a server of another one, it is not killed
    along with us before it has done its work.
    """
    environment = {name: value for name, value in os.environ.items() if name != orphans.MARKER}
    return subprocess.Popen(
        watchdog.command(token),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
        cwd="/",
        env=environment,
    )


@asynccontextmanager
async def guard_processes(folder: Path) -> AsyncIterator[ProcessGuard]:
    """Guard the processes started in this block; `folder` is where hosts note that they are there."""
    guard = ProcessGuard(secrets.token_hex(TOKEN_BYTES))
    note = await asyncio.to_thread(_enter, folder, guard.token)
    try:
        yield guard
    finally:
        await asyncio.to_thread(guard.close)
        note.unlink(missing_ok=True)


def _enter(folder: Path, token: str) -> Path:
    """Sweep up after others, then note that we are here."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(folder)
    note = folder / f"{os.getpid()}-{token}.json"
    content = {"pid": os.getpid(), "start": orphans.start_time(os.getpid()), "token": token}
    write_atomic(note, json.dumps(content).encode())
    return note


def sweep(folder: Path) -> int:
    """End what hosts that are no more have left behind; returns how many processes that were."""
    ended = 0
    for note in folder.glob("*.json"):
        try:
            host = json.loads(note.read_text())
            token, alive = str(host["token"]), _alive(int(host["pid"]), host["start"])
        except (OSError, ValueError, KeyError, TypeError):
            note.unlink(missing_ok=True)
            continue
        if alive:
            continue
        if len(token) == 2 * TOKEN_BYTES:  # less of a token would fit the processes of others too
            ended += orphans.kill_marked(token)
        note.unlink(missing_ok=True)
    return ended


def _alive(pid: int, start: int | None) -> bool:
    return orphans.start_time(pid) == start and _exists(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

"""Ensures that no server process outlives its host, however the host ends: a watchdog process, and a cleanup
at the next start.

On a clean exit the transports have ended everything. If the host is killed, the watchdog ends the rest within
two seconds. If the watchdog is killed too, the next host with the same home does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.config.safe_files import write_atomic
from toolcrib.servers.processes import orphans

TOKEN_BYTES = 12


class ProcessGuard:
    """Tracks the process groups of this host."""

    def __init__(self, token: str) -> None:
        self.token = token
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._count = 0

    def new_marker(self) -> str:
        """The marker of the next process; starts with the host's token."""
        self._count += 1
        return f"{self.token}.{self._count}."

    def spawned(self, group: int) -> None:
        self._groups.add(group)
        if self._watched():
            self._send(f"+ {group}\n")
            return
        self._watchdog = _start_watchdog(self.token)
        self._send("".join(f"+ {known}\n" for known in self._groups))

    def exited(self, group: int) -> None:
        self._groups.discard(group)
        if self._watched():
            self._send(f"- {group}\n")

    def close(self) -> None:
        """Stop the watchdog, which ends remaining processes."""
        if self._watchdog is None or self._watchdog.stdin is None:
            return
        if not self._groups:
            self._send(DONE)
        with contextlib.suppress(OSError):
            self._watchdog.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._watchdog.wait(timeout=3)

    def _watched(self) -> bool:
        return self._watchdog is not None and self._watchdog.poll() is None

    def _send(self, lines: str) -> None:
        assert self._watchdog is not None
        assert self._watchdog.stdin is not None
        with contextlib.suppress(OSError):
            self._watchdog.stdin.write(lines.encode())


def _start_watchdog(token: str) -> subprocess.Popen[bytes]:
    """Start it in its own session, so that Ctrl-C in a terminal does not reach it.

    It does not carry our own marker: if this host is itself a server of another host, the watchdog must
    survive it to do its work.
    """
    environment = {name: value for name, value in os.environ.items() if name != orphans.MARKER}
    return subprocess.Popen(
        watchdog_command(token),
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
    """Guard the processes started in this block; running hosts are registered in `folder`."""
    guard = ProcessGuard(secrets.token_hex(TOKEN_BYTES))
    note = await asyncio.to_thread(_enter, folder, guard.token)
    try:
        yield guard
    finally:
        await asyncio.to_thread(guard.close)
        note.unlink(missing_ok=True)


def _enter(folder: Path, token: str) -> Path:
    """Clean up after hosts that died, then register this one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(folder)
    note = folder / f"{os.getpid()}-{token}.json"
    content = {"pid": os.getpid(), "start": orphans.start_time(os.getpid()), "token": token}
    write_atomic(note, json.dumps(content).encode())
    return note


def sweep(folder: Path) -> int:
    """End processes of hosts that no longer run; returns how many."""
    ended = 0
    for note in folder.glob("*.json"):
        try:
            host = json.loads(note.read_text())
            pid, token = int(host["pid"]), str(host["token"])
            alive = orphans.start_time(pid) == host["start"] and _exists(pid)
        except (OSError, ValueError, KeyError, TypeError):
            note.unlink(missing_ok=True)
            continue
        if alive:
            continue
        if len(token) == 2 * TOKEN_BYTES:  # a shorter prefix would match other processes too
            ended += orphans.kill_marked(token)
        note.unlink(missing_ok=True)
    return ended


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


DONE = "!\n"
_WAITING = """
groups=
while read -r sign group; do
    case $sign in '!') exit 0 ;; esac
    case $group in '' | *[!0-9]*) continue ;; esac
    kept=
    for one in $groups; do
        [ "$one" = "$group" ] || kept="$kept $one"
    done
    case $sign in
        +) groups="$kept $group" ;;
        -) groups=$kept ;;
    esac
done
"$@" $groups || for group in $groups; do kill -9 "-$group"; done
"""
"""Waits in a shell, which uses a tenth of a Python's memory. Reads `+ GROUP`, `- GROUP`, and `!` on a clean
exit. At end of input without `!` (the host was killed) it ends the listed groups and everything with the
token. The final `kill` is for a Python environment that was removed meanwhile."""


def watchdog_command(token: str) -> list[str]:
    ending = [sys.executable, "-I", "-S", str(Path(orphans.__file__)), token]
    return ["/bin/sh", "-c", _WAITING, "toolcrib-watchdog", *ending]

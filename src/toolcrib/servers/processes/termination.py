"""Ends a server's processes (closed input, SIGTERM, SIGKILL, with the time before each), and measures their
memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys

from toolcrib.servers.processes.orphans import group_alive, kill_marked, signal_group, stats_of_group

GRACE_AFTER_EOF = 3.0
GRACE_AFTER_TERM = 2.0
GRACE_AFTER_KILL = 2.0
_POLL = 0.01
PS_PATIENCE = 5.0


def memory_of_group(group: int) -> int:
    """Resident bytes of a process group; 0 if unknown."""
    if not sys.platform.startswith("linux"):
        return _memory_by_ps(group)
    return sum(int(fields[21]) for fields in stats_of_group(group)) * os.sysconf("SC_PAGE_SIZE")


def _memory_by_ps(group: int) -> int:
    """Without /proc, as on macOS."""
    try:
        listed = subprocess.run(
            ["/bin/ps", "-axo", "pgid=,rss="], capture_output=True, text=True, timeout=PS_PATIENCE, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    rows = (line.split() for line in listed.stdout.splitlines())
    return sum(int(row[1]) << 10 for row in rows if len(row) == 2 and row[0] == str(group))


async def end_group(group: int, marker: str, leader_gone: asyncio.Event) -> None:
    """After stdin was closed: wait, SIGTERM, SIGKILL, until nothing of the group or the marker is left."""
    await _wait(leader_gone, GRACE_AFTER_EOF)
    if group_alive(group):
        signal_group(group, signal.SIGTERM)
        await _wait_for_group(group, GRACE_AFTER_TERM)
    if group_alive(group):
        signal_group(group, signal.SIGKILL)
        await _wait_for_group(group, GRACE_AFTER_KILL)
    await asyncio.to_thread(kill_marked, marker)
    await _wait(leader_gone, GRACE_AFTER_KILL)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _wait_for_group(group: int, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while group_alive(group):  # noqa: ASYNC110 - no event for the last process
                await asyncio.sleep(_POLL)

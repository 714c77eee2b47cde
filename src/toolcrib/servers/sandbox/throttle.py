"""Keeps the processes of a server within a share of one processor by pausing them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.servers.processes.orphans import signal_group, stat_of

PERIOD = 0.5
LONGEST_PAUSE = 2.0
_TICKS = os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def throttled(group: int, percent: int, report: Callable[[str], None]) -> AsyncIterator[None]:
    """Hold a process group to this share while the block runs; 0 for no limit."""
    if not percent:
        yield
        return
    task = asyncio.create_task(_hold(group, percent / 100, report), name=f"limit of processor use {group}")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        signal_group(group, signal.SIGCONT)


async def _hold(group: int, share: float, report: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    before, since = await asyncio.to_thread(cpu_seconds, group), loop.time()
    reported = False
    while True:
        await asyncio.sleep(PERIOD)
        used, now = await asyncio.to_thread(cpu_seconds, group), loop.time()
        excess = (used - before) / share - (now - since)
        before, since = used, now
        if excess <= 0:
            continue
        if not reported:
            report(
                f"[sandbox] It uses more than {share:.0%} of a processor and is slowed down. "
                "To allow more, raise sandbox.cpu of the server's entry."
            )
            reported = True
        signal_group(group, signal.SIGSTOP)
        await asyncio.sleep(min(excess, LONGEST_PAUSE))
        signal_group(group, signal.SIGCONT)
        since = loop.time()


def cpu_seconds(group: int) -> float:
    """The processor time that the living processes of a group have used."""
    total = 0
    for folder in Path("/proc").iterdir():
        fields = stat_of(folder.name) if folder.name.isdigit() else None
        if fields is not None and int(fields[2]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / _TICKS

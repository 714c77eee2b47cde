"""Looks after a connected server while nothing else does: a sign of life when idle, and a limit on memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from toolcrib.clock import Clock
from toolcrib.errors import CallTimeout, ConnectionLost, RemoteUnreachable, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.processes import memory_of_group
from toolcrib.servers.session import Session

CHECK_TIMEOUT = 10.0
RECHECK_INTERVAL = 5.0
MISSES_ALLOWED = 3


async def watch_health(
    session: Session, entry: ServerEntry, clock: Clock, interval: float, rate: Callable[[str | None], None]
) -> ToolcribError:
    """Check at intervals; returns the reason once the server has to be ended."""
    misses = 0
    while True:
        await clock.sleep(interval if misses == 0 else min(RECHECK_INTERVAL, interval))
        complaint = await _memory_complaint(session, entry)
        if isinstance(complaint, ToolcribError):
            return complaint
        misses = 0 if session.busy or await _alive(session) else misses + 1
        if misses >= MISSES_ALLOWED:
            return ConnectionLost(f"{entry.name} gave no sign of life {misses} times in a row.")
        rate(complaint or (f"No sign of life for {misses} checks." if misses else None))


async def _alive(session: Session) -> bool:
    try:
        await session.check(timeout=CHECK_TIMEOUT)
    except (CallTimeout, RemoteUnreachable):
        return False
    return True


async def _memory_complaint(session: Session, entry: ServerEntry) -> str | ToolcribError | None:
    if session.pid is None or not (entry.memory_warning or entry.memory_limit):
        return None
    used = await asyncio.to_thread(memory_of_group, session.pid) >> 20
    if entry.memory_limit and used > entry.memory_limit:
        return ConnectionLost(
            f"{entry.name} used {used} MB of memory, more than its limit of {entry.memory_limit} MB.",
            hint="Raise memory.limit in its entry if it needs that much.",
        )
    if entry.memory_warning and used > entry.memory_warning:
        return f"It uses {used} MB of memory."
    return None

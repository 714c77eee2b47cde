"""Looks after a connected server while nothing else does: a sign of life when idle, and a limit on memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from toolcrib.clock import Clock
from toolcrib.errors import CallTimeout, ConnectionLost, RemoteUnreachable, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.processes.termination import memory_of_group
from toolcrib.servers.sessions.session import Session

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
        trouble = None if session.busy else await _trouble(session)
        misses = misses + 1 if trouble is not None else 0
        if trouble is not None and misses >= MISSES_ALLOWED:
            return _verdict(entry.name, trouble)
        rate(complaint or (f"No sign of life for {misses} checks." if misses else None))


async def _trouble(session: Session) -> ToolcribError | None:
    """Why there is no sign of life, or None when there is one. What is worse than silence is raised."""
    try:
        await session.check(timeout=CHECK_TIMEOUT)
    except (CallTimeout, RemoteUnreachable) as error:
        return error
    return None


def _verdict(server: str, trouble: ToolcribError) -> ToolcribError:
    """A remote host that is down is no crash; whatever is merely silent is taken for one."""
    if isinstance(trouble, RemoteUnreachable):
        return trouble
    return ConnectionLost(f"{server} gave no sign of life {MISSES_ALLOWED} times in a row.")


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

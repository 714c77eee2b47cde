"""Health checks of a connected server: a ping when idle (timeout, missed checks before a restart), memory
limits, slow answers, and the texts for a busy, slow or flooding server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.errors import CallTimeout, ConnectionLost, RemoteUnreachable, ToolcribError
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.processes.termination import memory_of_group
from toolcrib.servers.sessions.peer import OnProgress
from toolcrib.servers.sessions.session import Session

CHECK_TIMEOUT = 10.0
RECHECK_INTERVAL = 5.0
MISSES_ALLOWED = 3
BUSY_CHECKS = 3
"""A busy server is checked too once the same request is in progress at so many checks in a row."""
_BUSY = "It is busy and does not answer health checks."


class HealthReport(Protocol):
    def __call__(self, complaint: str | None, *, unresponsive: bool = False) -> None:
        """Called with what is wrong; `unresponsive` if the server does not answer."""


async def watch_health(
    session: Session,
    entry: ServerEntry,
    clock: Clock,
    interval: float,
    report: HealthReport,
) -> ToolcribError:
    """Check at intervals; returns the reason once the server must be ended.

    A server that handles one request at a time answers no check meanwhile: it is reported, and not ended.
    """
    misses = same = 0
    oldest: Any = None
    while True:
        await clock.sleep(interval if misses == 0 else min(RECHECK_INTERVAL, interval))
        complaint = await _memory_complaint(session, entry)
        if isinstance(complaint, ToolcribError):
            return complaint
        before, oldest = oldest, session.oldest_request
        busy = oldest is not None
        same = same + 1 if busy and oldest == before else 0
        trouble = None if busy and same < BUSY_CHECKS else await _trouble(session)
        misses = misses + 1 if trouble is not None and not busy else 0
        if trouble is not None and misses >= MISSES_ALLOWED:
            return _failure(entry.name, trouble)
        missed = _BUSY if busy and trouble is not None else _missed(misses)
        report(missed or complaint, unresponsive=trouble is not None)


def _missed(checks: int) -> str | None:
    return f"Missed {checks} health check{'' if checks == 1 else 's'}." if checks else None


async def _trouble(session: Session) -> ToolcribError | None:
    """Why the check failed, or None; worse errors are raised."""
    try:
        await session.check(timeout=CHECK_TIMEOUT)
    except (CallTimeout, RemoteUnreachable) as error:
        return error
    return None


def _failure(server: str, trouble: ToolcribError) -> ToolcribError:
    """An unreachable remote host is not a crash; any other silence is."""
    if isinstance(trouble, RemoteUnreachable):
        return trouble
    return ConnectionLost(f"{server} missed {MISSES_ALLOWED} health checks in a row.")


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
        return f"Uses {used} MB of memory."
    return None


KEPT = 10
MANY = 3
LONG = 5.0


class SilenceTimer:
    """How long a call that reports progress has been silent."""

    def __init__(self, monotonic: Callable[[], float], on_progress: OnProgress) -> None:
        self._monotonic = monotonic
        self._heard = monotonic()
        self._forward = on_progress

    @property
    def seconds(self) -> float:
        """Since the start, or since the last progress report."""
        return self._monotonic() - self._heard

    def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass on a progress report."""
        self._heard = self._monotonic()
        self._forward(progress, total, message)


class ResponseTimes:
    """Whether the last answers of one connection were slow."""

    def __init__(self, entry: ServerEntry) -> None:
        self._slow_expected = entry.call_timeout > ServerEntry.call_timeout
        self._long: deque[bool] = deque(maxlen=KEPT)

    def took(self, seconds: float) -> bool:
        """Record how long a call took; returns whether `complaint` may have changed."""
        news = seconds > LONG or True in self._long
        self._long.append(seconds > LONG)
        return news

    @property
    def complaint(self) -> str | None:
        """Why the server counts as slow; None if it does not."""
        slow = sum(self._long)
        if self._slow_expected or len(self._long) < KEPT or slow < MANY:
            return None
        return f"{slow} of the last {KEPT} answers took over {LONG:g} s."


FLOODS = "Sends more messages than it may, and is read slowly."


class Health:
    """What is known to be wrong with one connection."""

    def __init__(self, entry: ServerEntry) -> None:
        self.times = ResponseTimes(entry)
        self.complaint: str | None = None
        """Of the last health check."""
        self.floods = False

    @property
    def text(self) -> str | None:
        """The most important complaint; None if healthy."""
        return self.complaint or (FLOODS if self.floods else None) or self.times.complaint

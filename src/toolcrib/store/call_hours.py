"""Sums the record of calls up by server and hour, and finds the time that is typical of each server."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from toolcrib.store.moments import to_stored

HOURS = 24
_HOUR = 3_600_000_000
"""Microseconds, as times are stored."""
_COUNTED = """
SELECT server, (? - time) / ?, COUNT(*), SUM(outcome NOT IN ('ok', 'cancelled', 'denied'))
FROM calls WHERE time > ? AND time <= ? AND server IS NOT NULL GROUP BY 1, 2
"""
_TYPICAL = """
SELECT server, ms FROM (
    SELECT server, ms,
        ROW_NUMBER() OVER (PARTITION BY server ORDER BY ms) AS place,
        COUNT(*) OVER (PARTITION BY server) AS many
    FROM calls WHERE time > ? AND time <= ? AND server IS NOT NULL AND outcome IN ('ok', 'tool_error')
) WHERE place = (many + 1) / 2
"""


@dataclass
class ServerHours:
    """The last hours of one server, the oldest first: calls, and how many of them failed."""

    calls: list[int] = field(default_factory=lambda: [0] * HOURS)
    failed: list[int] = field(default_factory=lambda: [0] * HOURS)
    typical_ms: float | None = None
    """The median."""


def call_hours(connection: sqlite3.Connection, now: datetime) -> dict[str, ServerHours]:
    """The servers that were called in the last day."""
    until, since = to_stored(now), to_stored(now - timedelta(hours=HOURS))
    found: dict[str, ServerHours] = {}
    for server, ago, calls, failed in connection.execute(_COUNTED, (until, _HOUR, since, until)):
        hours = found.setdefault(server, ServerHours())
        place = HOURS - 1 - min(ago, HOURS - 1)
        hours.calls[place] += calls
        hours.failed[place] += failed
    for server, ms in connection.execute(_TYPICAL, (since, until)):
        found.setdefault(server, ServerHours()).typical_ms = ms
    return found

"""Searches the record of calls, page by page: filters (tool, server, session, outcome, rule, text, time),
counts, how often each rule decided, and the calls, failures and typical duration of each server by hour.

Functions for `AuditLog.look`; they write nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.audit import COLUMNS, record_of
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, escaped_like

_COLUMNS = f"id, {COLUMNS}"


@dataclass(frozen=True, kw_only=True)
class CallFilter:
    """Which calls: all filters must match, each by one of its values. Patterns have `*` and `?`."""

    tools: Sequence[str] = ()
    servers: Sequence[str] = ()
    principals: Sequence[str] = ()
    """A principal's name, or its first part: `gateway` also matches `gateway:editor`."""
    sessions: Sequence[str] = ()
    """Prefixes of sessions."""
    outcomes: Sequence[Outcome] = ()
    rules: Sequence[str] = ()
    texts: Sequence[str] = ()
    """Each occurs in the tool's name, the arguments or the error."""
    asked: bool = False
    """Only calls that the user was asked about."""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class FoundCall:
    id: int
    record: CallRecord


Place = tuple[int, int]
"""A call's stored time and its id: its position in the record."""


def place_of(found: FoundCall) -> Place:
    return to_stored(found.record.time), found.id


def find(
    connection: DatabaseConnection,
    wanted: CallFilter,
    limit: int,
    *,
    before: Place | None = None,
    after: Place | None = None,
) -> list[FoundCall]:
    """The latest matching calls, newest first, before or after a position."""
    where, values = _where(wanted)
    if before is not None:
        where, values = [*where, "(time, id) < (?, ?)"], [*values, *before]
    if after is not None:
        where, values = [*where, "(time, id) > (?, ?)"], [*values, *after]
    statement = f"SELECT {_COLUMNS} FROM calls {_clause(where)} ORDER BY time DESC, id DESC LIMIT ?"  # noqa: S608
    return [_found(row) for row in connection.execute(statement, (*values, limit))]


def find_one(connection: DatabaseConnection, call_id: str) -> FoundCall | None:
    """The call of this id; recent ones are found quickly."""
    statement = f"SELECT {_COLUMNS} FROM calls WHERE call_id = ? ORDER BY time DESC LIMIT 1"  # noqa: S608
    row = connection.execute(statement, (call_id,)).fetchone()
    return None if row is None else _found(row)


def tools_in_session(connection: DatabaseConnection, session: str) -> set[str]:
    """The tools whose results are part of a session or of one of its parts, `session/…`."""
    statement = (
        "SELECT DISTINCT tool FROM calls WHERE outcome IN ('ok', 'tool_error')"
        " AND (session = ? OR substr(coalesce(session, ''), 1, length(?)) = ?)"
    )
    part = f"{session}/"
    return {str(row[0]) for row in connection.execute(statement, (session, part, part))}


def count(connection: DatabaseConnection, wanted: CallFilter) -> int:
    where, values = _where(wanted)
    statement = f"SELECT count(*) FROM calls {_clause(where)}"  # noqa: S608
    found: int = connection.execute(statement, values).fetchone()[0]
    return found


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Calls since a time: all, those the user was asked about, and those that failed."""

    total: int
    asked: int
    ended: Mapping[str, int]
    """By outcome, without `ok`."""


def sums(connection: DatabaseConnection, since: datetime) -> Sums:
    moment = to_stored(since)
    total = connection.execute("SELECT count(*) FROM calls WHERE time >= ?", (moment,)).fetchone()[0]
    # A full scan: an index would take three times as long for this many rows.
    not_well = (
        f"SELECT outcome, count(*), sum(CASE WHEN {_SAID_NO} THEN 1 ELSE 0 END) FROM calls"  # noqa: S608
        # `+` keeps SQLite from using the index.
        " WHERE +time >= ? AND outcome <> 'ok' GROUP BY outcome"
    )
    rows = connection.execute(not_well, (moment,)).fetchall()
    said_yes = f"SELECT count(*) FROM calls WHERE {_RULE} AND time >= ?"  # noqa: S608
    asked = connection.execute(said_yes, (ASKED, moment)).fetchone()[0]
    return Sums(
        total=total,
        asked=asked + sum(denied or 0 for _, _, denied in rows),
        ended={outcome: number for outcome, number, _ in rows},
    )


def uses_of_rules(connection: DatabaseConnection, rules: Sequence[str]) -> dict[str, tuple[int, datetime]]:
    """How often each rule decided, and when last; unused rules are left out."""
    statement = f"SELECT count(*), max(time) FROM calls WHERE {_RULE}"  # noqa: S608
    found = ((rule, *connection.execute(statement, (rule,)).fetchone()) for rule in rules)
    return {rule: (number, from_stored(last)) for rule, number, last in found if number}


ASKED = "asked"
"""Stands for a rule if the user allowed the call."""
_RULE = "extra IS NOT NULL AND json_extract(extra, '$.rule') = ?"
_SAID_NO = "outcome = 'denied' AND extra IS NOT NULL AND json_extract(extra, '$.asked') IS NOT NULL"
_ASKED = f"((extra IS NOT NULL AND json_extract(extra, '$.rule') = '{ASKED}') OR ({_SAID_NO}))"


def _where(wanted: CallFilter) -> tuple[list[str], list[Any]]:
    parts: list[tuple[str, Sequence[Any]]] = [
        (_any("glob(?, tool)", wanted.tools), wanted.tools),
        (_any("glob(?, coalesce(server, ''))", wanted.servers), wanted.servers),
        (
            _any("(glob(?, principal) OR glob(?, principal))", wanted.principals),
            [pattern for name in wanted.principals for pattern in (name, f"{name}:*")],
        ),
        (
            _any("substr(coalesce(session, ''), 1, length(?)) = ?", wanted.sessions),
            [session for session in wanted.sessions for _ in range(2)],
        ),
        (_any("outcome = ?", wanted.outcomes), wanted.outcomes),
        (_any(f"({_RULE})", wanted.rules), wanted.rules),
        *((_TEXT, [f"%{escaped_like(text)}%"] * 3) for text in wanted.texts),
        (_ASKED if wanted.asked else "", ()),
        ("time >= ?" if wanted.since else "", [to_stored(wanted.since)] if wanted.since else ()),
        ("time < ?" if wanted.until else "", [to_stored(wanted.until)] if wanted.until else ()),
    ]
    said = [(clause, values) for clause, values in parts if clause]
    return [clause for clause, _ in said], [value for _, values in said for value in values]


_TEXT = "(tool LIKE ? ESCAPE '\\' OR arguments LIKE ? ESCAPE '\\' OR coalesce(error, '') LIKE ? ESCAPE '\\')"


def _any(clause: str, values: Sequence[object]) -> str:
    return f"({' OR '.join([clause] * len(values))})" if values else ""


def _clause(where: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(where)}" if where else ""


def _found(row: tuple[Any, ...]) -> FoundCall:
    number, *rest = row
    return FoundCall(id=number, record=record_of(tuple(rest)))


HOURS = 24
_HOUR = 3_600_000_000
"""Microseconds, as times are stored."""
_COUNTED = """
SELECT server, (? - time) / ?, COUNT(*),
    SUM(CASE WHEN outcome IN ('ok', 'cancelled', 'denied') THEN 0 ELSE 1 END)
FROM calls WHERE time > ? AND time <= ? AND server IS NOT NULL GROUP BY 1, 2
"""
_TYPICAL = """
SELECT server, ms FROM (
    SELECT server, ms,
        ROW_NUMBER() OVER (PARTITION BY server ORDER BY ms) AS place,
        COUNT(*) OVER (PARTITION BY server) AS many
    FROM calls WHERE time > ? AND time <= ? AND server IS NOT NULL AND outcome IN ('ok', 'tool_error')
) AS placed WHERE place = (many + 1) / 2
"""


@dataclass
class ServerHours:
    """The last hours of one server, oldest first: calls and failures."""

    calls: list[int] = field(default_factory=lambda: [0] * HOURS)
    failed: list[int] = field(default_factory=lambda: [0] * HOURS)
    typical_ms: float | None = None
    """The median."""


def call_hours(connection: DatabaseConnection, now: datetime) -> dict[str, ServerHours]:
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

"""Looks things up in the record of calls: by words, page by page, counted, and by the rule that decided.

Each function is work for `AuditLog.look`: it reads and writes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.audit import COLUMNS, record_of
from toolcrib.store.moments import from_stored, to_stored

_COLUMNS = f"id, {COLUMNS}"


@dataclass(frozen=True, kw_only=True)
class CallFilter:
    """Which calls; each part must fit, and of the values of a part one. Patterns have `*` and `?`."""

    tools: Sequence[str] = ()
    servers: Sequence[str] = ()
    principals: Sequence[str] = ()
    """A principal's name, or the first word of it: `gateway` means `gateway:editor` too."""
    sessions: Sequence[str] = ()
    """The beginnings of sessions."""
    outcomes: Sequence[Outcome] = ()
    rules: Sequence[str] = ()
    texts: Sequence[str] = ()
    """Each stands somewhere in the tool's name, the arguments or the error."""
    asked: bool = False
    """Only calls that a person was asked about."""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class FoundCall:
    """A call of the record; `id` is where it stands."""

    id: int
    record: CallRecord


Place = tuple[int, int]
"""When a call came in, as it is stored, and its id: where it stands in the order of the record."""


def place_of(found: FoundCall) -> Place:
    """Where a call stands."""
    return to_stored(found.record.time), found.id


def find(
    connection: sqlite3.Connection,
    wanted: CallFilter,
    limit: int,
    *,
    before: Place | None = None,
    after: Place | None = None,
) -> list[FoundCall]:
    """The latest such calls, newest first, before or after a place."""
    where, values = _where(wanted)
    if before is not None:
        where, values = [*where, "(time, id) < (?, ?)"], [*values, *before]
    if after is not None:
        where, values = [*where, "(time, id) > (?, ?)"], [*values, *after]
    statement = f"SELECT {_COLUMNS} FROM calls {_clause(where)} ORDER BY time DESC, id DESC LIMIT ?"  # noqa: S608
    return [_found(row) for row in connection.execute(statement, (*values, limit))]


def find_one(connection: sqlite3.Connection, call_id: str) -> FoundCall | None:
    """The call of this id; one that was lately is found quickly."""
    statement = f"SELECT {_COLUMNS} FROM calls WHERE call_id = ? ORDER BY time DESC LIMIT 1"  # noqa: S608
    row = connection.execute(statement, (call_id,)).fetchone()
    return None if row is None else _found(row)


def count(connection: sqlite3.Connection, wanted: CallFilter) -> int:
    """How many such calls there are."""
    where, values = _where(wanted)
    statement = f"SELECT count(*) FROM calls {_clause(where)}"  # noqa: S608
    found: int = connection.execute(statement, values).fetchone()[0]
    return found


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Calls since a moment: all, those that a person was asked about, and those that did not end well."""

    total: int
    asked: int
    ended: Mapping[str, int]
    """By outcome, without `ok`."""


def sums(connection: sqlite3.Connection, since: datetime) -> Sums:
    """How many calls there were since then, and how they went."""
    moment = to_stored(since)
    total = connection.execute("SELECT count(*) FROM calls WHERE time >= ?", (moment,)).fetchone()[0]
    # From one end to the other: most of it is wanted, and going by an index would take three times as long.
    not_well = (
        f"SELECT outcome, count(*), sum({_SAID_NO}) FROM calls NOT INDEXED"  # noqa: S608
        " WHERE time >= ? AND outcome <> 'ok' GROUP BY outcome"
    )
    rows = connection.execute(not_well, (moment,)).fetchall()
    said_yes = f"SELECT count(*) FROM calls WHERE {_RULE} AND time >= ?"  # noqa: S608
    asked = connection.execute(said_yes, (ASKED, moment)).fetchone()[0]
    return Sums(
        total=total,
        asked=asked + sum(denied or 0 for _, _, denied in rows),
        ended={outcome: number for outcome, number, _ in rows},
    )


def uses_of_rules(connection: sqlite3.Connection, rules: Sequence[str]) -> dict[str, tuple[int, datetime]]:
    """How often each of these decided, and when last; those that never did are left out."""
    statement = f"SELECT count(*), max(time) FROM calls WHERE {_RULE}"  # noqa: S608
    found = ((rule, *connection.execute(statement, (rule,)).fetchone()) for rule in rules)
    return {rule: (number, from_stored(last)) for rule, number, last in found if number}


ASKED = "asked"
"""What stands in the place of a rule where a person said yes."""
_RULE = "extra IS NOT NULL AND json_extract(extra, '$.rule') = ?"
_SAID_NO = "outcome = 'denied' AND extra IS NOT NULL AND json_extract(extra, '$.asked') IS NOT NULL"
_ASKED = f"((extra IS NOT NULL AND json_extract(extra, '$.rule') = '{ASKED}') OR ({_SAID_NO}))"


def _where(wanted: CallFilter) -> tuple[list[str], list[Any]]:
    parts: list[tuple[str, Sequence[Any]]] = [
        (_any("tool GLOB ?", wanted.tools), wanted.tools),
        (_any("ifnull(server, '') GLOB ?", wanted.servers), wanted.servers),
        (
            _any("(principal GLOB ? OR principal GLOB ?)", wanted.principals),
            [pattern for name in wanted.principals for pattern in (name, f"{name}:*")],
        ),
        (
            _any("substr(ifnull(session, ''), 1, length(?)) = ?", wanted.sessions),
            [one for one in wanted.sessions for _ in range(2)],
        ),
        (_any("outcome = ?", wanted.outcomes), wanted.outcomes),
        (_any(f"({_RULE})", wanted.rules), wanted.rules),
        *((_TEXT, [f"%{_escaped(text)}%"] * 3) for text in wanted.texts),
        (_ASKED if wanted.asked else "", ()),
        ("time >= ?" if wanted.since else "", [to_stored(wanted.since)] if wanted.since else ()),
        ("time < ?" if wanted.until else "", [to_stored(wanted.until)] if wanted.until else ()),
    ]
    said = [(clause, values) for clause, values in parts if clause]
    return [clause for clause, _ in said], [value for _, values in said for value in values]


_TEXT = "(tool LIKE ? ESCAPE '\\' OR arguments LIKE ? ESCAPE '\\' OR ifnull(error, '') LIKE ? ESCAPE '\\')"


def _any(clause: str, values: Sequence[object]) -> str:
    return f"({' OR '.join([clause] * len(values))})" if values else ""


def _clause(where: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(where)}" if where else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _found(row: tuple[Any, ...]) -> FoundCall:
    number, *rest = row
    return FoundCall(id=number, record=record_of(tuple(rest)))

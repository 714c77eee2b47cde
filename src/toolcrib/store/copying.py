"""Copies all data from one database to another, as when moving from SQLite to PostgreSQL: which tables and
columns, page by page, in one transaction of the target.

Rows that the target already has are kept as they are there. Decisions that a shared source refuses are left
out, and the others are signed for the target. If the same source was copied before, only
decisions made since then are added: what was removed from the target meanwhile stays removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.clock import Clock
from toolcrib.store.columns import BLOB_MARK, Row, from_column, to_column, to_stored
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.decisions import COLUMN, Decided, Decisions, signed_tables
from toolcrib.store.tables import Table, feature_tables
from toolcrib.store.work_queue import AsyncDatabase

PAGE = 500
_PAGE_SECONDS = 120.0


TABLES = (
    Table(
        name="chats",
        columns=(
            "id",
            "title",
            "model",
            "created",
            "updated",
            "parent",
            "project",
            "pinned",
            "banned",
            "deleted",
            "pinned_at",
        ),
        key=("id",),
    ),
    Table(
        name="chat_entries",
        columns=("chat", "position", "time", "kind", "body"),
        key=("chat", "position"),
    ),
    Table(
        name="calls",
        columns=(
            "time",
            "tool",
            "server",
            "principal",
            "session",
            "outcome",
            "ms",
            "bytes",
            "arguments",
            "error",
            "call_id",
            "extra",
        ),
        key=("id",),
    ),
    Table(
        name="tool_history",
        columns=(
            "server",
            "tool",
            "hash",
            "parts",
            "first_seen",
            "last_changed",
            "previous_hash",
            "changes",
        ),
        key=("server", "tool"),
    ),
    Table(
        name="tool_lists",
        columns=("server", "fingerprint", "protocol", "version", "definitions", "saved_at", "decided"),
        key=("server",),
    ),
    Table(
        name="approval_rules",
        columns=("id", "rule", "made_at", "off", "decided"),
        key=("id",),
        decided="made_at",
    ),
    Table(
        name="approval_requests",
        columns=("id", "digest", "question", "asked_at", "answer", "decided"),
        key=("id",),
        decided="asked_at",
    ),
    Table(
        name="tool_pins",
        columns=("server", "tool", "hash", "definition", "pinned_at", "decided"),
        key=("server", "tool"),
        decided="pinned_at",
    ),
    Table(
        name="trust",
        columns=("server", "launch", "agreed_at", "decided"),
        key=("server",),
        decided="agreed_at",
    ),
    Table(
        name="page_keys",
        columns=("id", "hash", "name", "made_at", "used_at", "decided"),
        key=("id",),
        decided="made_at",
    ),
)
"""Those of the kernel."""


def copied_tables() -> tuple[Table, ...]:
    """All tables that are copied, those of features last."""
    return (*TABLES, *(table for tables in feature_tables() for table in tables.copied))


@dataclass(frozen=True, kw_only=True)
class Copied:
    """The rows of one table in the source, and how many of them the target did not have."""

    table: str
    rows: int
    added: int


def count_rows(connection: DatabaseConnection) -> dict[str, int]:
    """How many rows each table has."""
    return {table.name: _count(connection, table) for table in copied_tables()}


def last_copied(source: str, connection: DatabaseConnection) -> int | None:
    """When this source was last copied to a shared database, as stored; None if never."""
    row = connection.execute("SELECT moved_at FROM moved_from WHERE source = ?", (source,)).fetchone()
    return None if row is None else int(row[0])


async def copy_all(source: AsyncDatabase, target: AsyncDatabase, label: str, clock: Clock) -> list[Copied]:
    """Copy all tables; `label` identifies the source in a shared target."""
    now = to_stored(clock.now())

    def copy(within: DatabaseConnection) -> list[Copied]:
        since = last_copied(label, within) if target.shared else None
        copied = [_copy(source, table, since, within, target.decisions) for table in copied_tables()]
        if target.shared:
            within.execute(
                "INSERT INTO moved_from VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET moved_at = ?",
                (label, now, now),
            )
        return copied

    return await target.run(lambda connection: transact(connection, copy))


def _copy(
    source: AsyncDatabase, table: Table, since: int | None, target: DatabaseConnection, decisions: Decisions
) -> Copied:
    before, rows = _count(target, table), 0
    columns, values = ", ".join(table.columns), ", ".join("?" * len(table.columns))
    statement = f"INSERT INTO {table.name} ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING"  # noqa: S608
    for page in _pages(source, table, since):
        kept = _signed_again(source, decisions, table, page)
        target.executemany(statement, [_portable(row) for row in kept])
        rows += len(page)
    return Copied(table=table.name, rows=rows, added=_count(target, table) - before)


def _signed_again(
    source: AsyncDatabase, decisions: Decisions, table: Table, page: Sequence[Row]
) -> list[Row]:
    """Decisions that the source accepts, signed for the target; a row that is over is only a record."""
    if (signed := signed_tables().get(table.name)) is None:
        return list(page)
    found = []
    for row in page:
        values = dict(zip(table.columns, row, strict=True))
        parts = [values[column] for column in signed.columns]
        over = signed.is_over(values.get("state"))
        if over or source.decisions.fits(table.name, (*parts, values[COLUMN])):
            made = Decided.read(values[COLUMN])
            earlier = made if made.at else None
            values[COLUMN] = "" if over else decisions.decide(table.name, *parts, decided=earlier)
            found.append(tuple(values.values()))
    return found


def _pages(source: AsyncDatabase, table: Table, since: int | None) -> Iterator[Sequence[Row]]:
    """The rows in the order of their key."""
    last: Row | None = None
    width = len(table.columns)
    while True:
        statement, values = _select(table, last, since)
        page = source.submit(
            lambda connection, s=statement, v=values: connection.execute(s, v).fetchall()  # type: ignore[misc]
        ).result(_PAGE_SECONDS)
        if page:
            yield [tuple(row[:width]) for row in page]
        if len(page) < PAGE:
            return
        last = tuple(page[-1][width:])


def _select(table: Table, last: Row | None, since: int | None) -> tuple[str, Row]:
    key = ", ".join(table.key)
    clauses: list[str] = []
    values: list[Any] = []
    if last is not None:
        clauses.append(f"({key}) > ({', '.join('?' * len(table.key))})")
        values += last
    if since is not None and table.decided:
        clauses.append(f"{table.decided} > ?")
        values.append(since)
    where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
    columns = ", ".join((*table.columns, *table.key))
    return f"SELECT {columns} FROM {table.name} {where} ORDER BY {key} LIMIT {PAGE}", tuple(values)  # noqa: S608


def _portable(row: Row) -> Row:
    """Blobs as the other database stores them."""
    return tuple(
        to_column(from_column(value)) if isinstance(value, str) and value.startswith(BLOB_MARK) else value
        for value in row
    )


def _count(connection: DatabaseConnection, table: Table) -> int:
    count: int = connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0]  # noqa: S608
    return count

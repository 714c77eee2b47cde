"""The database of chats, approvals and call records: rows per table, decisions without a valid signature
(show, sign or remove them), what stays on this machine; and the host that opens it again after a restore."""

from __future__ import annotations

import asyncio
import hashlib
import json
from functools import partial

from typing_extensions import TypedDict

from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.operations.operation import RUNNING, operation
from toolcrib.store.columns import Row, from_column
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.copying import count_rows
from toolcrib.store.decisions import Decided, Refused, look_for_refused, sign_rows, signed_tables

LONGEST = 2000
"""Characters of a column that are shown."""
LOCAL = "Secrets, server processes, logs and installed servers stay on this machine."

PAUSE = 0.1
"""Seconds in which the answer is sent."""


class RefusedDecision(TypedDict):
    """A row without a valid signature, which is ignored."""

    kind: str
    """Such as `approval rule`."""
    id: str
    content: dict[str, str]
    """By column, cut if it is long."""
    decided_by: str
    """What the row claims; empty if nothing."""
    decided_on: str


class RefusedDecisions(TypedDict):
    rows: list[RefusedDecision]
    digest: str
    """Identifies exactly these rows."""


class DecisionsSigned(TypedDict):
    changed: int
    """Rows that were signed, or removed."""
    removed: bool


class DatabaseShown(TypedDict):
    database: str
    """The SQLite file, or the URL without its password."""
    shared: bool
    """Whether other hosts may use it."""
    tables: dict[str, int]
    """Rows by table."""
    local: str
    """What is not shared."""


@operation(page=True)
async def database_show(host: Host) -> DatabaseShown:
    """Show where the data is, and how many rows each table has."""
    await host.audit.flush()
    database = host.core.database
    return {
        "database": database.name,
        "shared": database.shared,
        "tables": await database.run(count_rows),
        "local": LOCAL,
    }


@operation()
async def database_refused(host: Host) -> RefusedDecisions:
    """List the decisions in a shared database that no host signed; they are ignored."""
    database = host.core.database
    refused = await database.run(partial(look_for_refused, database.decisions))
    rows = [_shown(table, row) for table, found in refused.items() for row in found.values()]
    return {"rows": rows, "digest": _digest(refused)}


@operation()
async def database_sign(host: Host, digest: str, *, remove: bool = False) -> DecisionsSigned:
    """Sign the decisions that `database_refused` listed, so that they apply; or remove them.

    Raises `UsageError` if they are no longer the same.
    """
    database = host.core.database

    def work(connection: DatabaseConnection) -> int:
        refused = look_for_refused(database.decisions, connection)
        if _digest(refused) != digest:
            raise UsageError("The list has changed meanwhile.", hint="Look at it again.")
        return sign_rows(database.decisions, refused, connection, remove=remove)

    return {"changed": await database.run(partial(transact, work=work)), "removed": remove}


def _shown(table: str, row: Row) -> RefusedDecision:
    signed, claimed = signed_tables()[table], Decided.read(row[-1])
    named = dict(zip(signed.columns, map(_text, row[:-1]), strict=True))
    return {
        "kind": signed.title,
        "id": " ".join(named[column] for column in signed.key),
        "content": {column: text[:LONGEST] for column, text in named.items() if column not in signed.key},
        "decided_by": claimed.by,
        "decided_on": claimed.host,
    }


def _text(value: object) -> str:
    return from_column(value) if isinstance(value, str | bytes) else json.dumps(value)


def _digest(refused: Refused) -> str:
    rows = [[table, *map(repr, row)] for table, found in sorted(refused.items()) for row in found.values()]
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()


@operation(needs=RUNNING)
async def host_reopen(host: Host) -> bool:
    """Close the host; it opens again when no restore holds its lock."""
    if host.reopen is None:
        raise UsageError("The running host cannot be opened again by itself.", hint="Stop it first.")
    asyncio.get_running_loop().call_later(PAUSE, host.reopen)
    return True

"""Calls that must not be repeated: each is recorded before it begins.

A record that is found when a visit runs again means that the call was under way when its worker stopped. The
record is written and removed only while this worker still has the run: a worker that lost it begins nothing,
and hides nothing that another one began.

Statements that run for every step: built and compiled once, and given to the driver with their values.
Building and compiling a statement costs several times as much CPU as SQLite needs to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from toolcrib.clock import Clock
from toolcrib.features.workflows.engine.database import RunDatabase, insert_of
from toolcrib.features.workflows.engine.dbos_internals import DBOSWorkflowConflictIDError, SystemSchema
from toolcrib.features.workflows.engine.tables import begun, waits

Key = tuple[str | None, ...]

_status = SystemSchema.workflow_status


class Prepared:
    """One statement in each dialect. The driver gets the values unchanged, by the names of parameters."""

    def __init__(self, build: Callable[[sa.Dialect], sa.UpdateBase | sa.Select[Any]]) -> None:
        self._build = build
        self._compiled: dict[Key, str] = {}

    def run(self, connection: sa.Connection, **values: Any) -> sa.CursorResult[Any]:
        schemas = connection.get_execution_options().get("schema_translate_map", {})
        key = (connection.dialect.name, *schemas.values())
        text = self._compiled.get(key) or self._compile(connection.dialect, schemas, key)
        return connection.exec_driver_sql(text, values)

    def _compile(self, dialect: sa.Dialect, schemas: Mapping[str, str | None], key: Key) -> str:
        statement = self._build(dialect)
        compiled = statement.compile(
            dialect=_with_names(dialect), schema_translate_map=schemas, render_schema_translate=True
        )
        text = self._compiled[key] = str(compiled)
        return text


def _with_names(dialect: sa.Dialect) -> sa.Dialect:
    """By default the parameters of SQLite have no names."""
    if dialect.name != "sqlite":
        return dialect
    named = sqlite.dialect(paramstyle="named")
    named.default_schema_name = dialect.default_schema_name
    return named


def _build_begin(dialect: sa.Dialect) -> sa.UpdateBase:
    """Record a call, but only while this worker has the run.

    The lock on the row of the run keeps it with this worker until the record is committed.
    """
    values = [sa.bindparam(column.name, type_=column.type) for column in begun.c]
    mine = (
        sa.select(*values)
        .select_from(_status)
        .where(_status.c.workflow_uuid == sa.bindparam("run"))
        .where(_status.c.owner_xid.is_not_distinct_from(sa.bindparam("owner", type_=sa.Text)))
        .with_for_update(key_share=True)
    )
    return insert_of(dialect, begun).from_select(list(begun.c), mine).on_conflict_do_nothing()


_begin = Prepared(_build_begin)


class CallGuard:
    """The begun calls of one run, in this process."""

    def __init__(self, database: RunDatabase, clock: Clock, run: str, owner: str | None) -> None:
        self._database = database
        self._clock = clock
        self._run = run
        self._owner = owner
        self._found: dict[str, list[str]] = {}
        self._numbers: dict[str, int] = {}
        self.held: set[tuple[str, int]] = set()
        """Steps in which an earlier process waited for a server, and the numbers of the waits."""

    async def load(self) -> None:
        """Read what earlier processes began; once, before the first live visit."""
        rows, self.held = await self._database.run(self._read)
        for step, number, tool in rows:
            self._found.setdefault(step, []).append(tool)
            self._numbers[step] = max(number, self._numbers.get(step, 0))

    def unfinished(self, step: str) -> list[str]:
        """The tools of calls that began in an earlier process, and of which the outcome is unknown."""
        return self._found.get(step, [])

    async def begin(self, step: str, tool: str) -> None:
        """Raises `DBOSWorkflowConflictIDError` if another worker has the run."""
        number = self._numbers[step] = self._numbers.get(step, 0) + 1
        await self._database.run(lambda connection: self._write(connection, step, number, tool))

    async def take_back(self, step: str) -> None:
        """The call that began last was not made yet: it waits for an approval. Raises like `begin`."""
        if number := self._numbers.get(step, 0):
            self._numbers[step] = number - 1
            await self._database.run(lambda connection: self._delete_last(connection, step, number))

    async def clear(self, step: str) -> None:
        """The calls of this visit have a known outcome, or the user wants them again.

        The question about them goes with them, so that a later interruption asks again. Raises like `begin`.
        """
        if self._numbers.pop(step, 0):
            self._found.pop(step, None)
            await self._database.run(lambda connection: self._delete(connection, step))

    def _read(self, connection: sa.Connection) -> tuple[list[tuple[str, int, str]], set[tuple[str, int]]]:
        mine = sa.select(begun.c.step, begun.c.number, begun.c.tool).where(begun.c.run == self._run)
        mine_held = (waits.c.run == self._run, waits.c.kind == "server")
        held = connection.execute(sa.select(waits.c.step, waits.c.number).where(*mine_held))
        rows = [(row.step, row.number, row.tool) for row in connection.execute(mine)]
        return rows, {(row.step, row.number) for row in held}

    def _write(self, connection: sa.Connection, step: str, number: int, tool: str) -> None:
        started = self._clock.now().timestamp()
        record = {"run": self._run, "step": step, "number": number, "tool": tool, "started": started}
        if not _begin.run(connection, **record, owner=self._owner).rowcount:
            self._check_owner(connection)  # else the record exists: the answer to its commit was lost

    def _check_owner(self, connection: sa.Connection) -> None:
        """The lock on the row keeps the run with this worker until the transaction is committed."""
        current = sa.select(_status.c.owner_xid).where(_status.c.workflow_uuid == self._run)
        if not self._database.is_sqlite:
            current = current.with_for_update(key_share=True)
        if connection.execute(current).scalar() != self._owner:
            raise DBOSWorkflowConflictIDError(self._run)

    def _delete_last(self, connection: sa.Connection, step: str, number: int) -> None:
        last = (begun.c.run == self._run, begun.c.step == step, begun.c.number == number)
        connection.execute(sa.delete(begun).where(*last))
        self._check_owner(connection)

    def _delete(self, connection: sa.Connection, step: str) -> None:
        connection.execute(sa.delete(begun).where(begun.c.run == self._run, begun.c.step == step))
        asked = (waits.c.run == self._run, waits.c.step == step, waits.c.kind == "uncertain")
        connection.execute(sa.delete(waits).where(*asked))
        self._check_owner(connection)

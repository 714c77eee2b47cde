"""Writes down every call, many at a time, without anyone waiting; what was recorded is on disk 50 ms later.

Trouble with the disk never reaches a caller: it is counted here, kept for another try while there is room,
and shown by `doctor`. Nothing is lost in silence.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import chain
from types import TracebackType
from typing import Any, Self, TypeVar

from toolcrib.clock import Clock, SystemClock
from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.database import Database, transact
from toolcrib.store.moments import from_stored, to_stored
from toolcrib.tasks import cancel_and_wait

logger = logging.getLogger(__name__)

T = TypeVar("T")

FLUSH_AFTER = 0.05
RETRY_AFTER = 1.0
CAPACITY = 5000
"""Records held in memory; when the writer is that far behind, the next one waits for it."""
PRUNE_EVERY = 6 * 3600.0
_PRUNED_AT_ONCE = 5000

COLUMNS = "time, tool, server, principal, session, outcome, ms, bytes, arguments, error, call_id, extra"
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ROWS_AT_ONCE = 128
"""Rows of one statement, or half of that, a quarter and so on: so few statements that SQLite has each ready.
Each takes and gives the interpreter's lock; a row at a time made the writer and the event loop wait for each
other, which cost a call more than the writing itself."""


class AuditLog:
    """The record of calls; used as `async with AuditLog(database) as audit`."""

    def __init__(
        self,
        database: Database,
        *,
        days: int = 90,
        clock: Clock | None = None,
        flush_after: float = FLUSH_AFTER,
        capacity: int = CAPACITY,
    ) -> None:
        self._database = database
        self._days = days
        self._clock = clock or SystemClock()
        self._flush_after = flush_after
        self._capacity = capacity
        self._pending: list[CallRecord] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._timer: asyncio.TimerHandle | None = None
        self._pruning: asyncio.Task[None] | None = None
        self.errors = 0
        """Writes that failed."""
        self.lost = 0
        """Records that were given up."""
        self.last_error: str | None = None

    async def __aenter__(self) -> Self:
        self._pruning = asyncio.create_task(self._prune_for_ever(), name="audit retention")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await cancel_and_wait(self._pruning)
        await self.flush()
        self._cancel_timer()
        self._give_up(len(self._pending))
        self._pending = []

    def record(self, record: CallRecord) -> None:
        """Take one record; it is written a moment later, together with others."""
        self._pending.append(record)
        if len(self._pending) >= self._capacity:
            self._write_now()
        elif self._timer is None and self._idle.is_set():
            self._arm(self._flush_after)

    async def flush(self) -> None:
        """Wait until everything recorded so far is on disk, or has failed once more."""
        await self._idle.wait()
        self._start_writing()
        await self._idle.wait()

    async def query(
        self,
        limit: int = 100,
        *,
        tool: str | None = None,
        server: str | None = None,
        principal: str | None = None,
        outcome: Outcome | None = None,
        since: datetime | None = None,
    ) -> list[CallRecord]:
        """The latest calls, newest first; each filter must match exactly."""
        await self.flush()
        filters: dict[str, Any] = {
            "tool = ?": tool,
            "server = ?": server,
            "principal = ?": principal,
            "outcome = ?": outcome,
            "time >= ?": None if since is None else to_stored(since),
        }
        chosen = {clause: value for clause, value in filters.items() if value is not None}
        where = f"WHERE {' AND '.join(chosen)}" if chosen else ""
        statement = f"SELECT {COLUMNS} FROM calls {where} ORDER BY time DESC, id DESC LIMIT ?"  # noqa: S608
        rows = await self._database.run(
            lambda connection: connection.execute(statement, (*chosen.values(), limit)).fetchall()
        )
        return [record_of(row) for row in rows]

    async def look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        """Look at the record in some other way, once all that was recorded so far is in it."""
        await self.flush()
        return await self._database.run(at)

    async def prune(self) -> int:
        """Delete what is older than the log is kept; returns how many records went."""
        oldest = to_stored(self._clock.now() - timedelta(days=self._days))
        gone = 0
        while deleted := await self._database.run(partial(_delete_before, oldest)):
            # In portions, so that new records come in between.
            gone += deleted
        return gone

    async def _prune_for_ever(self) -> None:
        while True:
            try:
                await self.prune()
            except sqlite3.Error as error:
                self._note(error)
            await self._clock.sleep(PRUNE_EVERY)

    def _arm(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._start_writing)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_writing(self) -> None:
        self._cancel_timer()
        if not self._pending or not self._idle.is_set():
            return
        batch, self._pending = self._pending, []
        loop = asyncio.get_running_loop()
        self._idle.clear()
        self._database.submit(partial(_insert, batch)).add_done_callback(
            lambda written: loop.call_soon_threadsafe(self._written, batch, written.exception())
        )

    def _written(self, batch: list[CallRecord], error: BaseException | None) -> None:
        self._idle.set()
        if error is not None:
            self._note(error)
            self._keep(batch, error)
        if self._pending:
            self._arm(self._flush_after if error is None else RETRY_AFTER)

    def _keep(self, batch: list[CallRecord], error: BaseException) -> None:
        """Hold what failed for another try, if one makes sense, as far as there is room."""
        room = self._capacity - 1 - len(self._pending)
        # A full disk or a lock may pass; anything else would fail for ever.
        kept = batch[-room:] if room > 0 and isinstance(error, sqlite3.OperationalError) else []
        self._pending = kept + self._pending
        self._give_up(len(batch) - len(kept))

    def _write_now(self) -> None:
        """The writer is far behind: wait for it rather than lose or pile up records."""
        self._cancel_timer()
        batch, self._pending = self._pending, []
        try:
            self._database.submit(partial(_insert, batch)).result()
        except sqlite3.Error as error:
            self._note(error)
            self._give_up(len(batch))

    def _note(self, error: BaseException) -> None:
        self.errors += 1
        self.last_error = str(error)
        if self.errors == 1:
            logger.error("The audit log cannot be written: %s", error)

    def _give_up(self, count: int) -> None:
        if count:
            self.lost += count
            logger.error("%d audit records were lost: %s", count, self.last_error)


def _insert(batch: list[CallRecord], connection: sqlite3.Connection) -> None:
    rows = [_to_row(record) for record in batch]
    try:
        transact(connection, partial(_insert_rows, rows))
    except UnicodeEncodeError:
        # Half a surrogate pair can come out of JSON; so rarely that it is not looked for before.
        storable = [tuple(_storable(value) for value in row) for row in rows]
        transact(connection, partial(_insert_rows, storable))


def _insert_rows(rows: list[tuple[Any, ...]], connection: sqlite3.Connection) -> None:
    first, count = 0, _ROWS_AT_ONCE
    while first < len(rows):
        if first + count > len(rows):
            count //= 2
            continue
        some = rows[first : first + count]
        connection.execute(_insert_statement(count), list(chain.from_iterable(some)))
        first += count


@cache
def _insert_statement(rows: int) -> str:
    return f"INSERT INTO calls ({COLUMNS}) VALUES {', '.join([_ROW] * rows)}"  # noqa: S608


def _delete_before(oldest: int, connection: sqlite3.Connection) -> int:
    statement = "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE time < ? LIMIT ?)"
    return connection.execute(statement, (oldest, _PRUNED_AT_ONCE)).rowcount


def _to_row(record: CallRecord) -> tuple[Any, ...]:
    return (
        to_stored(record.time),
        record.tool,
        record.server,
        record.principal,
        record.session,
        record.outcome,
        record.ms,
        record.bytes,
        record.arguments,
        record.error,
        record.call_id,
        json.dumps(dict(record.extra)) if record.extra else None,
    )


def _storable(value: Any) -> Any:
    """Text that UTF-8 can carry; anything else as it is."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def record_of(row: tuple[Any, ...]) -> CallRecord:
    """A row of the table, its columns in the order of `COLUMNS`."""
    time, tool, server, principal, session, outcome, ms, size, arguments, error, call_id, extra = row
    return CallRecord(
        time=from_stored(time),
        tool=tool,
        server=server,
        principal=principal,
        session=session,
        outcome=outcome,
        ms=ms,
        bytes=size,
        arguments=arguments,
        error=error,
        call_id=call_id,
        extra=json.loads(extra) if extra else {},
    )

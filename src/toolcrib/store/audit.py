"""Records every call in batches without blocking callers; records are on disk within 50 ms. Decides how many
records wait in memory while the database cannot be written, and when old ones are deleted, also after a jump
of the clock.

With a shared database, a call is answered once its record is stored.

Disk errors never reach a caller: they are counted, records are kept for a retry as long as memory allows, and
`doctor` reports them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import chain
from types import TracebackType
from typing import Any, Self, TypeVar

from toolcrib.clock import Clock, SystemClock
from toolcrib.errors import DatabaseError
from toolcrib.schema.tools import CallRecord, Outcome
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.work_queue import BEHIND_BUSY_SECONDS, BRIEF_SECONDS, AsyncDatabase, is_lock, may_pass
from toolcrib.tasks import cancel_and_wait

JUMP = timedelta(days=30)
"""A longer gap without records may be a wrong clock: nothing is deleted until the same time has passed."""
AT_ONCE = 5000
LAST_ID = 2**63 - 1

logger = logging.getLogger(__name__)

T = TypeVar("T")

FLUSH_AFTER = 0.05
RETRY_AFTER = 1.0
CAPACITY = 120_000
"""Records held in memory while the database cannot be written; further ones are lost and counted."""
BATCH = 5000
"""Records written at once; a full batch is written immediately."""
CLOSE_SECONDS = 10.0
"""How long closing waits for another process that locks the database."""
GIVE_UP_SECONDS = 5.0
"""How much longer it waits for a running attempt."""
SETTLE_SECONDS = 2.0
"""How long a call waits for its record with a shared database."""
PRUNE_EVERY = 6 * 3600.0

COLUMNS = "time, tool, server, principal, session, outcome, ms, bytes, arguments, error, call_id, extra"
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TYPES = {"time": "BIGINT", "bytes": "BIGINT", "ms": "DOUBLE PRECISION"}
_ARRAYS = ", ".join(f"CAST(? AS {_TYPES.get(name, 'TEXT')}[])" for name in COLUMNS.split(", "))
_INSERT_ARRAYS = f"INSERT INTO calls ({COLUMNS}) SELECT * FROM unnest({_ARRAYS}) ON CONFLICT DO NOTHING"  # noqa: S608
_INSERT_ONE = f"INSERT INTO calls ({COLUMNS}) VALUES {_ROW} ON CONFLICT DO NOTHING"  # noqa: S608
"""For PostgreSQL: an array for each column, and a cheaper statement for one record. A record that is there
already is one of a repeated batch."""
_ROWS_AT_ONCE = 128
"""Rows of one statement, or half of that, a quarter and so on, so that SQLite caches each statement. Single
rows made the writer and the event loop compete for the interpreter's lock, which cost a call more than
the writing."""


async def delete_expired(database: AsyncDatabase, now: datetime, age: timedelta) -> int:
    """Returns the number of deleted records."""
    if await database.run(partial(_is_after_jump, to_stored(now - JUMP), to_stored(now))):
        return 0
    oldest = to_stored(now - age)
    border = await database.run(partial(_first_kept, oldest, to_stored(now)))
    gone = 0
    while deleted := await database.run(partial(_delete_before, oldest, border)):
        # In portions, so that new records can be written in between.
        gone += deleted
    return gone


def _is_after_jump(before: int, now: int, connection: DatabaseConnection) -> bool:
    """Whether the records newer than `before` follow a gap, as after a jump of the clock."""
    statement = "SELECT max(time) FROM calls WHERE time < ?"
    (last,) = connection.execute(statement, (before,)).fetchone()
    if last is None:
        return False
    (following,) = connection.execute("SELECT min(time) FROM calls WHERE time > ?", (last,)).fetchone()
    return bool(min(now, following if following is not None else now) - last > now - before)


def _first_kept(oldest: int, now: int, connection: DatabaseConnection) -> int:
    """The first record that is not expired: those written after it are newer, whatever their time says."""
    statement = "SELECT id FROM calls WHERE time >= ? AND time <= ? ORDER BY id LIMIT 1"
    found = connection.execute(statement, (oldest, now)).fetchone()
    return LAST_ID if found is None else int(found[0])


def _delete_before(oldest: int, border: int, connection: DatabaseConnection) -> int:
    statement = "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE time < ? AND id < ? LIMIT ?)"
    return connection.execute(statement, (oldest, border, AT_ONCE)).rowcount


class AuditLog:
    """Used as `async with AuditLog(database) as audit`."""

    def __init__(
        self,
        database: AsyncDatabase,
        *,
        days: int = 90,
        clock: Clock | None = None,
        flush_after: float = FLUSH_AFTER,
        capacity: int = CAPACITY,
        batch: int = BATCH,
    ) -> None:
        self._database = database
        self._days = days
        self._clock = clock or SystemClock()
        self._flush_after = flush_after
        self._capacity = capacity
        self._batch = batch
        self._pending: list[CallRecord] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._timer: asyncio.TimerHandle | None = None
        self._pruning: asyncio.Task[None] | None = None
        self.errors = 0
        """Failed writes."""
        self.lost = 0
        """Lost records."""
        self.last_error: str | None = None
        self._at_once = database.shared
        """Write each record as soon as possible: calls wait for it in `settle`."""
        self._next: asyncio.Future[None] | None = None
        """Done when the records that wait now are written, or could not be."""
        self._blocked = False
        self._blocked_by_lock = False
        self._behind = False
        """The write in progress takes long: no call waits for it."""
        self._in_hand = 0
        self._closed = False

    @property
    def waiting(self) -> int:
        """Records that are not on disk because the last attempt failed or has not ended."""
        stuck = self._blocked or self._database.trouble is not None
        return len(self._pending) + self._in_hand if stuck else 0

    @property
    def blocked_by(self) -> str | None:
        return self.last_error if self._blocked else self._database.trouble

    @property
    def trouble(self) -> str | None:
        """What happened to the database file while it was open, if anything."""
        return self._database.incident

    async def __aenter__(self) -> Self:
        self._pruning = asyncio.create_task(self._prune_for_ever(), name="audit retention")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await cancel_and_wait(self._pruning)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS + GIVE_UP_SECONDS):
                await self._flush_at_the_end()
        self._cancel_timer()
        self._closed = True
        self._give_up(len(self._pending) + self._in_hand)
        self._pending = []

    def record(self, record: CallRecord) -> None:
        """Add a record, to be written with others soon."""
        if len(self._pending) >= self._capacity:
            self._give_up(1)
            return
        self._pending.append(record)
        if not self._idle.is_set():
            return
        if len(self._pending) >= self._batch and not self._blocked:
            self._start_writing()
        elif self._timer is None:
            self._arm(0 if self._at_once else self._flush_after)

    async def settle(self) -> None:
        """Wait until the records so far are written, so that a host that is killed loses no answered call.

        Does not wait while the database cannot be written: records are then kept in memory.
        """
        if self._blocked or self._behind:
            return
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await (asyncio.shield(self._next_write()) if self._pending else self._idle.wait())
        except TimeoutError:
            self._behind = True

    def _next_write(self) -> asyncio.Future[None]:
        self._next = self._next or asyncio.get_running_loop().create_future()
        return self._next

    async def flush(self) -> None:
        """Wait until everything recorded so far is on disk, or has failed once more."""
        await self._idle.wait()
        left, errors = len(self._pending), self.errors
        while left > 0 and self.errors == errors:
            self._start_writing()
            await self._idle.wait()
            left -= self._batch

    async def _flush_for_a_while(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GIVE_UP_SECONDS):
                await self.flush()

    async def _flush_at_the_end(self) -> None:
        """Retries while another process locks the database; tries once if it is the disk."""
        clock = asyncio.get_running_loop().time
        until = clock() + CLOSE_SECONDS
        await self.flush()
        while self._pending and self._blocked_by_lock and clock() < until:
            await asyncio.sleep(self._flush_after)
            await self.flush()

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
        await self._flush_for_a_while()
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

    async def look(self, at: Callable[[DatabaseConnection], T]) -> T:
        """Run a query once everything recorded so far is written."""
        await self._flush_for_a_while()
        return await self._database.run(at)

    async def prune(self) -> int:
        """Delete expired records; returns their number."""
        return await delete_expired(self._database, self._clock.now(), timedelta(days=self._days))

    async def _prune_for_ever(self) -> None:
        while True:
            try:
                await self.prune()
            except (sqlite3.Error, DatabaseError) as error:
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
        batch, self._pending = self._pending[: self._batch], self._pending[self._batch :]
        loop = asyncio.get_running_loop()
        self._idle.clear()
        self._in_hand = len(batch)
        patience = BRIEF_SECONDS if self._blocked_by_lock else BEHIND_BUSY_SECONDS
        writing = self._database.submit(partial(_insert, batch), busy_seconds=patience)
        waiting, self._next = (None, self._next) if self._pending else (self._next, None)
        writing.add_done_callback(partial(self._tell_loop, loop, batch, waiting))

    def _tell_loop(
        self,
        loop: asyncio.AbstractEventLoop,
        batch: list[CallRecord],
        waiting: asyncio.Future[None] | None,
        written: Future[None],
    ) -> None:
        error = DatabaseError("closed") if written.cancelled() else written.exception()
        with contextlib.suppress(RuntimeError):  # the loop is closed: losses were counted
            loop.call_soon_threadsafe(self._written, batch, waiting, error)

    def _written(
        self, batch: list[CallRecord], waiting: asyncio.Future[None] | None, error: BaseException | None
    ) -> None:
        self._idle.set()
        self._behind = False
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        if self._closed:
            return  # an attempt that ended too late; its records count as lost
        self._in_hand = 0
        self._blocked = error is not None and may_pass(error)
        self._blocked_by_lock = error is not None and is_lock(error)
        if error is not None:
            self._note(error)
        if self._blocked:
            self._pending = batch + self._pending  # in order
        elif error is not None:
            self._give_up(len(batch))
        if error is not None and self._pending:
            self._arm(RETRY_AFTER)
        elif self._pending:
            at_once = self._at_once or len(self._pending) >= self._batch
            self._arm(0 if at_once else self._flush_after)

    def _note(self, error: BaseException) -> None:
        self.errors += 1
        self.last_error = str(error)
        if self.errors == 1:
            logger.error("The audit log cannot be written: %s", error)

    def _give_up(self, count: int) -> None:
        if not count:
            return
        if not self.lost or count > 1:  # not for each of thousands
            logger.error("%d audit records were lost: %s", count, self.last_error)
        self.lost += count


def _insert(batch: list[CallRecord], connection: DatabaseConnection) -> None:
    rows = [_to_row(record) for record in batch]
    try:
        _insert_all(rows, connection)
    except UnicodeEncodeError:
        # JSON may contain a lone surrogate; too rare to check in advance.
        _insert_all([tuple(_storable(value) for value in row) for row in rows], connection)


def _insert_all(rows: list[tuple[Any, ...]], connection: DatabaseConnection) -> None:
    if isinstance(connection, sqlite3.Connection):
        transact(connection, partial(_insert_rows, rows))
    # One statement and one answer of the server, whatever their number: calls wait for it.
    elif len(rows) == 1:
        connection.execute(_INSERT_ONE, rows[0])
    else:
        connection.execute(_INSERT_ARRAYS, [list(column) for column in zip(*rows, strict=True)])


def _insert_rows(rows: list[tuple[Any, ...]], connection: DatabaseConnection) -> None:
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
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def record_of(row: tuple[Any, ...]) -> CallRecord:
    """A row of the table, in the order of `COLUMNS`."""
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

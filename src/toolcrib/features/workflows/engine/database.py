"""The database of the engine: one SQLAlchemy engine for DBOS and for our own tables.

SQLite is set up for one machine: a write-ahead log, which survives a killed process. After a power failure
the last moments can be missing; `synchronous="FULL"` prevents that and is several times slower. A full disk,
or a database that is missing or silent, is waited for, here and in DBOS; requests of users end in time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError

from toolcrib.config.database_url import parameters_of, secured, without_secrets
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows.engine.connections import LIMITS, Attempt, Connections
from toolcrib.features.workflows.engine.dbos_internals import SCHEMA_PLACEHOLDER
from toolcrib.features.workflows.engine.migration import migrate_postgres, migrate_sqlite, schema_of

logger = logging.getLogger(__name__)
T = TypeVar("T")
Synchronous = Literal["NORMAL", "FULL"]

CONNECTIONS = 20
THREADS = 8
"""Those that wait for a lock leave some for others."""
LONGEST_LOCK_MS = 30_000
LONGEST_CHECKOUT = 600.0
"""Seconds to wait for a free connection: a queue of steps is not an error."""
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 5.0
PATIENCE = 30.0
"""Seconds after which a request of a user fails."""
FIRST_LIMIT = 10.0
"""Seconds after which a transaction is tried on another connection to PostgreSQL; doubled each time."""
LONGEST_LIMIT = 600.0
NO_ANSWER = "it does not answer"
_RETRIED_STATES = ("08", "53", "57", "40")
_LOCKED = "database is locked"


class DiskFull(sqlite3.OperationalError):
    """DBOS waits and tries again only if the message says that the database is locked."""


class Database:
    """Runs short transactions in threads, and again while the database is unavailable."""

    def __init__(self, url: str, *, synchronous: Synchronous = "NORMAL") -> None:
        self.is_sqlite = url.startswith("sqlite")
        # DBOS gets the engine, and of the URL only what may be logged.
        self.url = url if self.is_sqlite else without_secrets(url)
        self.engine = _sqlite(url, synchronous) if self.is_sqlite else _postgres(url)
        # The tables of DBOS are named with a placeholder for its schema.
        self.schema = schema_of(url)
        translated = {SCHEMA_PLACEHOLDER: None if self.is_sqlite else self.schema}
        self._own = self.engine.execution_options(schema_translate_map=translated)
        self.connections = Connections(self.engine)
        self.problem = ""
        """Why the last attempt failed; empty while the database works."""
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="workflow-database")

    async def prepare(self) -> None:
        """Create and upgrade all tables; raises `DatabaseUnavailable` if there is no database."""
        await self._retried(lambda: _Work(self._migrate, self.connections.cut_all), PATIENCE, LONGEST_LIMIT)

    def _migrate(self) -> None:
        if self.is_sqlite:
            migrate_sqlite(self.url, LONGEST_LOCK_MS)
        else:
            migrate_postgres(self.url, self.engine, self.schema)

    async def run(self, work: Callable[[sa.Connection], T], *, patience: float | None = None) -> T:
        """One transaction; without `patience` (seconds) it is tried until the database is back.

        If the caller is cancelled before the commit, nothing is committed.
        """
        return await self._retried(lambda: self._transaction(work), patience, FIRST_LIMIT)

    def _transaction(self, work: Callable[[sa.Connection], T]) -> _Work[T]:
        attempt = Attempt()

        def transact() -> T:
            with attempt.transaction(self._own) as connection:
                return work(connection)

        return _Work(transact, attempt.abandon)

    async def _retried(self, attempt: Callable[[], _Work[T]], patience: float | None, limit: float) -> T:
        now = asyncio.get_running_loop().time
        pause, until = FIRST_PAUSE, inf if patience is None else now() + patience
        while True:
            try:
                result = await self._attempted(attempt(), until - now(), limit)
            except DBAPIError as error:
                if not unavailable(error):
                    raise
                self.problem = _reason(error)
            except TimeoutError:
                self.problem, limit = NO_ANSWER, min(limit * 2, LONGEST_LIMIT)
            else:
                self.problem = ""
                return result
            if now() + pause > until:
                raise self.unavailable()
            logger.warning("the workflow database is not available: %s", self.problem)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _attempted(self, work: _Work[T], left: float, limit: float) -> T:
        """Raises `TimeoutError` if it is not done in time; SQLite has a time limit of its own."""
        seconds = left if self.is_sqlite else min(left, limit)
        future = asyncio.get_running_loop().run_in_executor(self.threads, work.run)
        try:
            async with asyncio.timeout(seconds if seconds < inf else None):
                return await future
        except (TimeoutError, asyncio.CancelledError):
            work.abandon()
            raise

    def unavailable(self, hint: str = "") -> DatabaseUnavailable:
        """The error for users, with what was last known."""
        return DatabaseUnavailable(
            f"The workflow database cannot be used: {self.problem or NO_ANSWER}.",
            hint=f"Check the free disk space and that the database server is running and can be reached."
            f" {hint or 'Then try again.'}",
        )

    def close(self) -> None:
        self.connections.close()
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.engine.dispose()


@dataclass(frozen=True)
class _Work(Generic[T]):
    """What a thread does, and how to stop waiting for it."""

    run: Callable[[], T]
    abandon: Callable[[], None]


def insert_once(connection: sa.Connection, table: sa.Table, **values: Any) -> bool:
    """Insert a row unless it exists, as after a commit whose answer was lost; whether it is new."""
    statement = insert_of(connection.dialect, table).values(**values).on_conflict_do_nothing()
    return connection.execute(statement).rowcount > 0


def insert_of(dialect: sa.Dialect, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An insert that can leave out rows that exist."""
    return sqlite.insert(table) if dialect.name == "sqlite" else postgresql.insert(table)


def unavailable(error: DBAPIError) -> bool:
    """Whether the same transaction may be successful later."""
    if error.connection_invalidated or isinstance(error.orig, DiskFull) or _LOCKED in str(error.orig):
        return True
    state = getattr(error.orig, "sqlstate", None) or ""
    if state.startswith(_RETRIED_STATES):
        return True
    return isinstance(error, OperationalError) and not state and "connection" in str(error.orig)


def _reason(error: DBAPIError) -> str:
    return str(error.orig).splitlines()[0][:200]


def _sqlite(url: str, synchronous: Synchronous) -> sa.Engine:
    file = sa.make_url(url).database or ""
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    engine = sa.create_engine(url, pool_size=CONNECTIONS, max_overflow=0, pool_timeout=LONGEST_CHECKOUT)

    @event.listens_for(engine, "connect")
    def set_up(connection: Any, record: Any) -> None:
        # As in DBOS: a transaction takes the write lock at its beginning.
        connection.isolation_level = "IMMEDIATE"
        for setting in (
            f"busy_timeout={LONGEST_LOCK_MS}",
            f"synchronous={synchronous}",
            "foreign_keys=ON",
            "journal_size_limit=16777216",
        ):
            connection.execute(f"PRAGMA {setting}")

    event.listen(engine, "handle_error", _wait_for_disk)
    return engine


def _wait_for_disk(context: ExceptionContext) -> None:
    original = context.original_exception
    if isinstance(original, DiskFull) or not isinstance(original, sqlite3.OperationalError):
        return
    if not any(text in str(original) for text in ("disk is full", "disk I/O error")):
        return
    reason = DiskFull(f"{_LOCKED}: {original}")
    raise OperationalError(context.statement, context.parameters, reason) from original


def _postgres(url: str) -> sa.Engine:
    given = secured(parameters_of(url))
    limits = {name: value for name, value in LIMITS.items() if name not in given}
    return sa.create_engine(
        "postgresql+psycopg://",
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=LONGEST_CHECKOUT,
        connect_args={**given, **limits, "application_name": "toolcrib-workflows"},
    )

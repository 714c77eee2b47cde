"""The database of the engine: one SQLAlchemy engine for DBOS and for our own tables. Decides connections,
timeouts, retries and locks, how a full disk is waited for, and how tables are created and upgraded.

SQLite is set up for one machine: a write-ahead log, which survives a killed process. After a power failure
the last moments can be missing; `synchronous="FULL"` prevents that and is several times slower. A full disk,
or a database that is missing or silent, is waited for, here and in DBOS; requests of users end in time.

Open connections to the database: those that a silent server blocks can be cut. A stopped server, or one
behind a broken network, answers neither a statement nor its cancellation. A thread that waits for it goes on
only if the socket is shut down.

Creates and upgrades the tables, ours and those of DBOS, before the engine uses them. On SQLite everything
happens in one transaction. DBOS alone does it in many, and a process that is killed in between leaves a
database that can never be opened again.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import re
import socket
import sqlite3
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError

from toolcrib.config.database_url import parameters_of, secured, without_secrets
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.workflows.engine.dbos_internals import (
    SCHEMA_PLACEHOLDER,
    DefaultSerializer,
    SystemDatabase,
)
from toolcrib.features.workflows.engine.tables import metadata

P = ParamSpec("P")
MAY_HAPPEN = "See whether it took effect in the meantime (toolcrib workflow runs), then try again."
"""DBOS does not give up what it has begun: it may happen when the database is back."""

CREATE_LOCK = 7_316_001
"""Any number, the same in all workers: the advisory lock of PostgreSQL under which tables are created."""
LOCK_PAUSE = 0.1
SCHEMA = "dbos"
"""The schema of DBOS in PostgreSQL, unless the URL has a schema for our tables; then `NAME_dbos`."""
_SEARCH_PATH = re.compile(r"-c\s*search_path=([A-Za-z0-9_]+)")

LOOK = 0.01
LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Of libpq, in seconds, the last in milliseconds: when it notices that a server cannot be reached."""

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


class HasDatabase(Protocol):
    @property
    def database(self) -> RunDatabase: ...


Self = TypeVar("Self", bound=HasDatabase)


@asynccontextmanager
async def in_time(database: RunDatabase, hint: str = "") -> AsyncIterator[None]:
    """Raises `DatabaseUnavailable` if the block takes too long."""
    try:
        async with asyncio.timeout(PATIENCE) as limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise database.unavailable(hint) from None


def answered_in_time(
    method: Callable[Concatenate[Self, P], Awaitable[T]],
) -> Callable[Concatenate[Self, P], Coroutine[Any, Any, T]]:
    """A method that fails with `DatabaseUnavailable` if the database does not answer in time."""

    @functools.wraps(method)
    async def bounded(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async with in_time(self.database, MAY_HAPPEN):
            return await method(self, *args, **kwargs)

    return bounded


def schema_of(url: str) -> str:
    """The schema of DBOS: cribs with schemas of their own can share a database."""
    own = _own_schema(url)
    return f"{own}_{SCHEMA}" if own else SCHEMA


def _own_schema(url: str) -> str | None:
    """The schema of our tables, if the URL names one."""
    options = sa.make_url(url).query.get("options", "")
    found = _SEARCH_PATH.search(options if isinstance(options, str) else " ".join(options))
    return found[1] if found else None


def migrate_sqlite(url: str, patience_ms: int) -> None:
    """One transaction for all tables; other processes wait for it."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)

    @event.listens_for(engine, "connect")
    def own_transactions(connection: sqlite3.Connection, record: Any) -> None:
        # Python's own transactions leave out CREATE TABLE.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={patience_ms}")
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    _migrate_dbos(url, engine, SCHEMA)
    _create(engine)
    engine.dispose()


def migrate_postgres(url: str, engine: sa.Engine, schema: str) -> None:
    """Workers may start at the same moment: one after the other creates the tables."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Polled: a query that waits for the lock would block the creation of indexes by the one who has it.
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(CREATE_LOCK))).scalar():
            time.sleep(LOCK_PAUSE)
        try:
            _migrate_dbos(url, engine, schema)
            if own := _own_schema(url):
                connection.execute(sa.schema.CreateSchema(own, if_not_exists=True))
            _create(engine)
        finally:
            connection.execute(sa.select(sa.func.pg_advisory_unlock(CREATE_LOCK)))


def _create(engine: sa.Engine) -> None:
    """Our tables, and the indexes that those of an earlier version have not."""
    metadata.create_all(engine)
    for table in metadata.tables.values():
        for index in table.indexes:
            index.create(engine, checkfirst=True)
    if engine.dialect.name == "sqlite":
        # For lists of runs in one state. In PostgreSQL, DBOS has made what is needed.
        with engine.begin() as connection:
            connection.exec_driver_sql(
                "CREATE INDEX IF NOT EXISTS crib_runs_by_status ON workflow_status (status, workflow_uuid)"
            )


def _migrate_dbos(url: str, engine: sa.Engine, schema: str) -> None:
    system = SystemDatabase.create(
        system_database_url=url,
        engine_kwargs={},
        engine=engine,
        schema=schema,
        serializer=DefaultSerializer(),
        executor_id=None,
    )
    system.run_migrations()


class Connections:
    """Knows the connections of an engine that are open."""

    def __init__(self, engine: sa.Engine) -> None:
        self._pool = engine.pool
        self._open: weakref.WeakSet[Any] = weakref.WeakSet()
        self._closed = False
        event.listen(engine, "connect", self._opened)
        event.listen(engine, "do_connect", self._refuse)

    async def unused(self, seconds: float) -> None:
        """Wait until no thread uses a connection, but no longer than this."""
        until = time.monotonic() + seconds
        while isinstance(self._pool, sa.QueuePool) and self._pool.checkedout():
            if time.monotonic() >= until:
                return
            await asyncio.sleep(LOOK)

    def cut_all(self) -> None:
        for connection in list(self._open):
            cut(connection)

    def close(self) -> None:
        """Cut all for good: threads that try again and again, as those of DBOS do, end."""
        self._closed = True
        self.cut_all()

    def _opened(self, connection: Any, record: object) -> None:
        if hasattr(connection, "pgconn"):
            self._open.add(connection)

    def _refuse(self, *_: object) -> None:
        if self._closed:
            raise ConnectionAbortedError("The workflow database is closed.")


class Abandoned(Exception):
    """No caller waits for this transaction any more; it is rolled back."""


class Attempt:
    """The connection of one transaction in a thread, which can be abandoned from the outside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._abandoned = False

    @contextmanager
    def transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        with engine.connect() as connection, self._using(connection), connection.begin():
            yield connection
            self._check()

    def abandon(self) -> None:
        """Commit nothing from now on, and wait for the server no longer."""
        with self._lock:
            self._abandoned = True
            cut(self._connection)

    @contextmanager
    def _using(self, connection: sa.Connection) -> Iterator[None]:
        """After the block another transaction may use the connection, and it is not cut any more."""
        with self._lock:
            self._check()
            self._connection = connection.connection.dbapi_connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def _check(self) -> None:
        if self._abandoned:
            raise Abandoned


def cut(connection: Any) -> None:
    """End the conversation with a server; a connection to a file is left alone."""
    if not hasattr(connection, "pgconn"):
        return
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)


class DiskFull(sqlite3.OperationalError):
    """DBOS waits and tries again only if the message says that the database is locked."""


class RunDatabase:
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

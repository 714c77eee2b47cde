"""One SQLite file, touched by one thread; others hand it work and never wait for the disk unless they ask to.

Written ahead and synchronised at checkpoints only: a killed process loses nothing that was committed, a power
cut at most the last moments. Several processes may share the file.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from toolcrib.errors import ConfigError
from toolcrib.store.migrations import migrate

T = TypeVar("T")

BUSY_SECONDS = 15.0
"""How long we wait for another process that is writing."""


class Database:
    """The open file; made by `open_database`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self.path = path
        self._connection = connection
        self._thread = thread

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do work on the connection, after all that was handed over before, and wait for its result."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Hand work over without waiting."""
        return self._thread.submit(work, self._connection)


@asynccontextmanager
async def open_database(path: Path) -> AsyncIterator[Database]:
    """Open the file, made and brought up to date where need be; closed when the block is left.

    Raises `ConfigError` when it cannot be used.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolcrib-store")
    try:
        connection = await asyncio.wrap_future(thread.submit(_connect, path))
        try:
            yield Database(path, connection, thread)
        finally:
            # The thread works in order: what was handed over before is written first, even when the one who
            # waits here is cancelled.
            await asyncio.shield(asyncio.wrap_future(thread.submit(connection.close)))
    finally:
        thread.shutdown(wait=False)


def transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Do work in one write transaction: all of it happens or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # A full disk may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _connect(path: Path) -> sqlite3.Connection:
    try:
        _prepare_file(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        _configure(connection)
        migrate(connection)
    except sqlite3.Error as error:
        connection.close()
        raise _unusable(path, error) from error
    except ConfigError:
        connection.close()
        raise
    return connection


def _prepare_file(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # SQLite gives its side files the mode of the main one, so that one must be right first.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    connection.execute("PRAGMA foreign_keys = ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself when two processes do so at once."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _unusable(path: Path, error: Exception) -> ConfigError:
    return ConfigError(
        f"The database {path} cannot be used: {error}.",
        hint="Check that the folder can be written to and the disk has room; "
        "if the file is damaged, move it away and a new one is made.",
    )

"""One SQLite file, used by a single thread; others submit work and need not wait for the disk.

Write-ahead logging, synchronised at checkpoints: a killed process loses nothing that was committed, a power
cut at most the last moments. Several processes may share the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from toolcrib.errors import ConfigError
from toolcrib.store.migrations import migrate

T = TypeVar("T")

logger = logging.getLogger(__name__)

BUSY_SECONDS = 15.0
"""How long to wait for another process that is writing."""
BEHIND_BUSY_SECONDS = 1.0
"""The same for background writes: they are retried, and others can use the thread in between."""
RETRY_AFTER = 1.0
MAX_KEPT = 10_000
EMPTIED = -1
"""Stands for the inode of an empty file."""
CLOSE_SECONDS = 20.0
_LOCKS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PASSING = (*_LOCKS, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class Database:
    """Created by `open_database`. Private methods run in its thread."""

    def __init__(self, path: Path, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self.path = path
        self.trouble: str | None = None
        """Why writes are waiting now."""
        self.incident: str | None = None
        """What happened to the file while it was open."""
        self._connection = connection
        self._file = _identity(path)
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._kept: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()

    @property
    def waiting(self) -> int:
        """Writes that were not possible yet."""
        return len(self._kept)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work on the connection, after everything submitted before, and return its result."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(
        self, work: Callable[[sqlite3.Connection], T], *, busy_seconds: float = BUSY_SECONDS
    ) -> Future[T]:
        """Submit work without waiting; it waits up to `busy_seconds` for another process that is writing."""
        return self._thread.submit(self._do, work, busy_seconds)

    def keep(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Write in the background; a lock or a full disk is retried, in order."""
        written: Future[T] = Future()
        self._thread.submit(self._take_up, work, written)
        return written

    def _do(self, work: Callable[[sqlite3.Connection], T], busy_seconds: float) -> T:
        self._check_file()
        if busy_seconds == BUSY_SECONDS:
            return work(self._connection)
        with _patience(self._connection, busy_seconds):
            return work(self._connection)

    def _take_up(self, work: Callable[[sqlite3.Connection], Any], written: Future[Any]) -> None:
        if len(self._kept) >= MAX_KEPT:
            written.set_exception(sqlite3.OperationalError(f"{MAX_KEPT} writes are waiting already"))
            return
        self._kept.append((work, written))
        if len(self._kept) == 1:
            self._write_kept()

    def _write_kept(self) -> None:
        while self._kept:
            work, written = self._kept[0]
            try:
                result = self._do(work, BEHIND_BUSY_SECONDS)
            except Exception as error:  # noqa: BLE001 - passed to the submitter
                if may_pass(error):
                    self._try_again_later(str(error))
                    return
                written.set_exception(error)
            else:
                written.set_result(result)
            self._kept.popleft()
        self.trouble = None

    def _try_again_later(self, trouble: str) -> None:
        if self.trouble is None:
            logger.error("The database cannot be written at the moment: %s", trouble)
        self.trouble = trouble
        with contextlib.suppress(RuntimeError):  # the loop or the thread is closed
            self._loop.call_soon_threadsafe(self._loop.call_later, RETRY_AFTER, self._try_again)

    def _try_again(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._thread.submit(self._write_kept)

    def _check_file(self) -> None:
        """Notice that the file was deleted, emptied or replaced, and continue with a valid one."""
        now = _identity(self.path)
        if now == self._file:
            return
        spare = self._saved() if now is None else None
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        if now is None or now[1] == EMPTIED:
            _remove(self.path)
        if spare is not None:
            spare.replace(self.path)
        self._connection = _connect(self.path)
        self._file = _identity(self.path)
        what = "deleted; its content was restored" if now is None else "emptied or replaced"
        self.incident = f"The database {self.path} was {what} while it was in use."
        logger.error(self.incident)

    def _saved(self) -> Path | None:
        """A copy of the deleted file, which still exists while it is open."""
        spare = self.path.with_name(f"{self.path.name}.saved")
        try:
            with contextlib.closing(sqlite3.connect(spare)) as copy:
                self._connection.backup(copy)
        except sqlite3.Error:
            spare.unlink(missing_ok=True)
            return None
        return spare

    def _close(self) -> None:
        self._write_kept()
        for _, written in self._kept:
            written.set_exception(sqlite3.OperationalError(self.trouble or "the database was closed"))
        self._connection.close()


@asynccontextmanager
async def open_database(path: Path) -> AsyncIterator[Database]:
    """Open the file, created and migrated if necessary; closed when the block ends.

    Raises `ConfigError` if it cannot be used.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolcrib-store")
    try:
        connection = await asyncio.wrap_future(thread.submit(_connect, path))
        database = Database(path, connection, thread)
        try:
            yield database
        finally:
            # The thread works in order: everything submitted before is written first, even if this wait is
            # cancelled.
            closing = asyncio.wrap_future(thread.submit(database._close))
            await asyncio.shield(asyncio.wait({closing}, timeout=CLOSE_SECONDS))
            if not closing.done():
                logger.error("The database was closed before everything was written: %s", database.trouble)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def may_pass(error: BaseException) -> bool:
    """Whether a retry may succeed: a lock, a full disk, an unreachable file."""
    if not isinstance(error, sqlite3.OperationalError):
        return False
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _PASSING


def is_lock(error: BaseException) -> bool:
    """Whether another process locks the file."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _LOCKS


@contextlib.contextmanager
def _patience(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _identity(path: Path) -> tuple[int, int] | None:
    """Identifies the file; None if missing. An emptied file is a different one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino if status.st_size else EMPTIED)


def _remove(path: Path) -> None:
    """The file and SQLite's two files beside it."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Run work in one write transaction."""
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
    # SQLite gives its side files the mode of the main one, so it must be set first.
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
    """Switch to write-ahead logging; SQLite does not wait if two processes do so at once."""
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
    if is_lock(error):
        return ConfigError(
            f"The database {path} is locked by another process.",
            hint="Wait until that process has finished, or end it. It may be a backup or another program.",
        )
    return ConfigError(
        f"The database {path} cannot be used: {error}.",
        hint="Check that the folder is writable and the disk has space; "
        "if the file is damaged, move it away and a new one will be created.",
    )

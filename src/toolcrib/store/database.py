"""Opens the database: a SQLite file, or PostgreSQL if it is shared. Decides the settings of SQLite, the
copies made before an update of the tables, and what happens to a file that is deleted, emptied or replaced
while in use.

SQLite: write-ahead logging, synchronised at checkpoints: a killed process loses nothing that was committed, a
power cut at most the last moments. Several processes may share the file. It is copied before its schema is
changed, and the last three copies are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from toolcrib.config.database_key import Signer
from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import exclusive
from toolcrib.errors import ConfigError
from toolcrib.schema.system_failures import database_failure, hint_for
from toolcrib.store import incidents
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.migrations import STEPS, is_current, migrate
from toolcrib.store.work_queue import BRIEF_SECONDS, BUSY_SECONDS, AsyncDatabase, DatabaseEngine, is_lock

FOLDER = "backups"
KEPT = 3
PATIENCE = 600.0
"""Seconds to wait for another process that copies and migrates the same file."""

__all__ = ["AsyncDatabase", "is_foreign", "is_lock", "open_database", "transact"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

EMPTIED = -1
"""Stands for the inode of an empty file."""
CLOSE_SECONDS = 20.0
LOOK_AGAIN = 5.0
"""Seconds between attempts to restore a database that was deleted."""
_WITHOUT = " It has no rules, trust, chats and records of the one before."
_BRIEFLY = f"PRAGMA busy_timeout = {int(BRIEF_SECONDS * 1000)}"


def migrate_safely(connection: sqlite3.Connection, file: Path) -> None:
    """Apply missing steps, after a copy of a file that has data; raises `ConfigError` or `sqlite3.Error`."""
    if not _has_older_schema(connection):
        migrate(connection)
        return
    with exclusive(file, PATIENCE):
        if _has_older_schema(connection):
            _back_up(file, _version(connection))
        migrate(connection)


def migration_backups(file: Path) -> list[Path]:
    """The copies of a database, oldest first."""
    return sorted((file.parent / FOLDER).glob(f"{file.stem}-v*-*{file.suffix}"), key=_stamp)


def _has_older_schema(connection: sqlite3.Connection) -> bool:
    return 0 < _version(connection) <= len(STEPS) and not is_current(connection)


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _back_up(file: Path, version: int) -> None:
    from toolcrib.store.snapshots import copy_database  # most starts change no schema

    folder = file.parent / FOLDER
    make_private(folder)
    copy = folder / f"{file.stem}-v{version}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{file.suffix}"
    unfinished = copy.with_name(f".{copy.name}.part")
    try:
        copy_database(file, unfinished)
        unfinished.replace(copy)
    except (OSError, sqlite3.Error) as error:
        unfinished.unlink(missing_ok=True)
        raise ConfigError(
            f"The database {file} needs a new schema, and cannot be copied to {folder} first: {error}.",
            hint="Nothing was changed. Free as much disk space as the database takes, and try again.",
        ) from error
    logger.info("database copied before its schema changes", extra={"copy": str(copy)})
    for old in migration_backups(file)[:-KEPT]:
        with suppress(OSError):
            old.unlink()


def _stamp(file: Path) -> str:
    return file.stem.rpartition("-")[2]


class SqliteFile:
    """An open file; deleted, emptied or replaced by others, it is noticed and a valid one is used."""

    shared = False

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self.path: Path | None = path
        self.incident: str | None = None
        self._path = path
        self._next_look = 0.0
        before = _identity(path)
        was_deleted = before == () and incidents.was_used(path)
        self._connection = _connect(path)
        is_new = before == () or before[1] == EMPTIED
        is_known = incidents.identify(self._connection, path, fresh=is_new)
        self._file = _identity(path)
        if was_deleted or (is_new and before):
            what = "missing" if was_deleted else "empty"
            self._report(f"The database {path} was {what}, and a new one was created.{_WITHOUT}")
        elif not is_known:
            self._report(f"The database {path} was replaced by another one.{_WITHOUT}")

    def do(self, work: Callable[[DatabaseConnection], T], busy_seconds: float) -> T:
        if _identity(self._path) != self._file and time.monotonic() >= self._next_look:
            self._recover()
        if busy_seconds == BRIEF_SECONDS:
            return work(self._connection)
        with _patience(self._connection, busy_seconds):
            return work(self._connection)

    def interrupt(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()

    def _recover(self) -> None:
        """The file was deleted, emptied or replaced: continue with a valid one, with its content if possible.

        The deleted file still exists while it is open. Until its content can be written to the old place, it
        stays in use.
        """
        now = _identity(self._path)
        replaced = now[:2] != self._file[:2]
        if not replaced and not self._file[2]:
            self._file = now  # SQLite created the write-ahead log later
            return
        if replaced and (connection := _other_of_ours(self._path)) is not None:
            self._use(connection, "was replaced by another one, which is used from now on.")
        elif (spare := self._saved()) is not None:
            _set_aside(self._path)
            spare.replace(self._path)
            self._use(_connect(self._path), "was deleted, emptied or replaced; its content was restored.")
        elif now[1:2] == (EMPTIED,):
            _remove(self._path)
            self._use(_connect(self._path), "was emptied, and a new one was created.")
        else:
            self._next_look = time.monotonic() + LOOK_AGAIN
            self._report(f"The database {self._path} was deleted or replaced, and cannot be restored yet.")

    def _use(self, connection: sqlite3.Connection, what: str) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()
        self._connection = connection
        incidents.identify(connection, self._path)
        self._file = _identity(self._path)
        self._report(f"While it was in use, the database {self._path} {what}")

    def _report(self, incident: str) -> None:
        """Log it, and write it down for `doctor`."""
        if incident == self.incident:
            return
        self.incident = incident
        logger.error(incident)
        incidents.write_down(self._path, incident)

    def _saved(self) -> Path | None:
        """A copy of the open file; None if that is not possible now, or it is damaged."""
        spare = self._path.with_name(f"{self._path.name}.saved-{os.getpid()}")
        try:
            spare.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            spare.unlink(missing_ok=True)
            spare.touch(0o600)
            with contextlib.closing(sqlite3.connect(spare)) as copy:
                self._connection.backup(copy)
                whole = copy.execute("PRAGMA quick_check(1)").fetchone() == ("ok",) and _has_our_tables(copy)
        except (sqlite3.Error, OSError):
            whole = False
        if not whole:
            with contextlib.suppress(OSError):
                spare.unlink(missing_ok=True)
        return spare if whole else None


@asynccontextmanager
async def open_database(place: Path | str, signer: Signer | None = None) -> AsyncIterator[AsyncDatabase]:
    """Open a SQLite file or a `postgresql://` URL, created and migrated if necessary; closed when the block
    ends. Without the `signer` of a shared database, no decision in it is accepted.

    Raises `ConfigError` if it cannot be used.
    """
    if isinstance(place, str) and find_spec("psycopg") is None:
        from toolcrib.serverkit.extras import ensure

        await ensure("postgres")
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="toolcrib-store")
    try:
        engine = await asyncio.wrap_future(thread.submit(_opened, place))
        database = AsyncDatabase(engine, thread, signer)
        try:
            yield database
        finally:
            # The thread works in order: everything submitted before is written first, even if this wait is
            # cancelled.
            closing = asyncio.wrap_future(database.close_in_thread())
            await asyncio.shield(asyncio.wait({closing}, timeout=CLOSE_SECONDS))
            if not closing.done():
                logger.error("The database was closed before everything was written: %s", database.trouble)
                database.interrupt()
    finally:
        thread.shutdown(wait=False, cancel_futures=True)


def _opened(place: Path | str) -> DatabaseEngine:
    if isinstance(place, Path):
        return SqliteFile(place)
    from toolcrib.store.postgres.server import PostgresServer

    return PostgresServer(place)


@contextlib.contextmanager
def _patience(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(_BRIEFLY)


def _identity(path: Path) -> tuple[int, ...]:
    """Identifies the file and its write-ahead log; empty if missing. An emptied file is a different one."""
    try:
        status = path.stat()
    except OSError:
        return ()
    try:
        log = os.stat(f"{path}-wal").st_ino  # noqa: PTH116 - with each use of the database
    except OSError:
        log = 0
    return (status.st_dev, status.st_ino if status.st_size else EMPTIED, log)


def _other_of_ours(path: Path) -> sqlite3.Connection | None:
    """The database that replaced ours, if it is one that can be used."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            ours = _has_our_tables(connection)
        return _connect(path) if ours else None
    except (sqlite3.Error, ConfigError):
        return None


def _has_our_tables(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'calls'")
    return found.fetchone() is not None


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether another program made the database."""
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables > 0 and not _has_our_tables(connection)


def _set_aside(path: Path) -> None:
    """Keep what is in the place of the database under another name."""
    if not path.exists() and not path.is_symlink():
        _remove(path)
        return
    aside = path.with_name(f"{path.name}.replaced-{time.time_ns()}")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))


def _remove(path: Path) -> None:
    """The file and SQLite's two files beside it."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        _prepare_file(path)
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    try:
        if is_foreign(connection):
            raise ConfigError(
                f"{path} is a database of another program.",
                hint="Set TOOLCRIB_HOME to another folder, or move that program's file elsewhere.",
            )
        _configure(connection)
        migrate_safely(connection, path)
        connection.execute(_BRIEFLY)
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
        except sqlite3.OperationalError as error:
            if not is_lock(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _unusable(path: Path, error: OSError | sqlite3.Error) -> ConfigError:
    if isinstance(error, OSError):
        return ConfigError(f"The database {path} cannot be used: {error.strerror}.", hint=hint_for(error))
    known = database_failure(error, path)
    if known is None:
        return ConfigError(f"The database {path} cannot be used: {error}.")
    return ConfigError(known[0], hint=known[1])

"""Copies a SQLite file, for backups and before updates: consistent while other processes write to it, and
with bounded memory.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

PAGES = 2048
"""Pages copied between two reports of progress."""
BUSY_SECONDS = 15.0
_CANNOT_WRITE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
OnCopied = Callable[[int, int], None]
"""Called with the pages that are copied, and all pages."""


def _ignore(done: int, total: int) -> None:
    pass


def copy_database(source: Path, target: Path, on_copied: OnCopied = _ignore) -> None:
    """Copy to a new file, for this user alone; raises `OSError` with the file that failed.

    The copy is one file: what is still in the write-ahead log of the source is part of it. Nothing has to be
    written beside the source, so that it may be on a full disk.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def report(status: int, remaining: int, total: int) -> None:
        on_copied(total - remaining, total)

    with _readable(source, target) as origin, _failing_as(target), closing(sqlite3.connect(target)) as copy:
        copy.execute("PRAGMA synchronous = OFF")
        origin.backup(copy, pages=PAGES, progress=report, sleep=0)
        origin.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
        _synchronise(target)


@contextmanager
def _readable(source: Path, target: Path) -> Iterator[sqlite3.Connection]:
    """The source in a read transaction: without one, each write of another process would restart the copy.

    SQLite has to write a small file beside it first. Where it cannot, as on a full disk, the file and its log
    are copied to the target's disk: then no other process uses them.
    """
    with _failing_as(source):
        try:
            origin = _begun(source)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _CANNOT_WRITE:
                raise
            origin = None
    if origin is not None:
        with closing(origin):
            yield origin
        return
    spare = target.with_name(f"{target.name}.source")
    try:
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                _copy_file(f"{source}{ending}", f"{spare}{ending}")
        with _failing_as(source), closing(_begun(spare)) as origin:
            yield origin
    finally:
        for ending in ("", "-wal", "-shm"):
            spare.with_name(spare.name + ending).unlink(missing_ok=True)


def _copy_file(source: str, target: str) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            error.filename, error.filename2 = target, None  # it names the source
        raise


def _begun(file: Path) -> sqlite3.Connection:
    connection = open_existing(file)
    try:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def _failing_as(file: Path) -> Iterator[None]:
    """Errors of SQLite name this file, as those of the system do."""
    try:
        yield
    except sqlite3.Error as error:
        is_full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        number = errno.ENOSPC if is_full else errno.EIO
        raise OSError(number, os.strerror(number) if is_full else str(error), str(file)) from error
    except OSError as error:
        if error.filename is None:
            error.filename = str(file)
        raise


def open_existing(file: Path) -> sqlite3.Connection:
    """A connection to a file that must exist; raises `sqlite3.Error`."""
    return sqlite3.connect(
        f"{file.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )


def _synchronise(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

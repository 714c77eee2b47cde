"""Copies of a SQLite file: consistent while other processes write to it, and with bounded memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

PAGES = 2048
"""Pages copied between two reports of progress."""
BUSY_SECONDS = 15.0
OnCopied = Callable[[int, int], None]
"""Called with the pages that are copied, and all pages."""


def _ignore(done: int, total: int) -> None:
    pass


def copy_database(source: Path, target: Path, on_copied: OnCopied = _ignore) -> None:
    """Copy to a new file, for this user alone; raises `OSError` or `sqlite3.Error`.

    The copy is one file: what is still in the write-ahead log of the source is part of it.
    """
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def report(status: int, remaining: int, total: int) -> None:
        on_copied(total - remaining, total)

    with closing(open_existing(source)) as origin, closing(sqlite3.connect(target)) as copy:
        # One read transaction for all steps: otherwise each write of another process would restart the copy.
        origin.execute("BEGIN")
        origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
        copy.execute("PRAGMA synchronous = OFF")
        origin.backup(copy, pages=PAGES, progress=report, sleep=0)
        origin.execute("ROLLBACK")
        copy.execute("PRAGMA journal_mode = DELETE")
    _synchronise(target)


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

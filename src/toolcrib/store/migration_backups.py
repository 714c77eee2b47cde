"""Copies the SQLite file before its schema is changed, and keeps the last three copies."""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import exclusive
from toolcrib.errors import ConfigError
from toolcrib.store.migrations import STEPS, is_current, migrate

logger = logging.getLogger(__name__)

FOLDER = "backups"
KEPT = 3
PATIENCE = 600.0
"""Seconds to wait for another process that copies and migrates the same file."""


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

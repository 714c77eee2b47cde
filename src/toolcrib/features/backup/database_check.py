"""Checks the databases of a backup before they are used, and takes from them what must not act again.

A database is more than its rows: triggers, views and pickled values in it would run when it is used. So its
schema must be exactly that of a Toolcrib of its version, and its values must be JSON.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from toolcrib.config.backup_parts import Part
from toolcrib.errors import DatabaseUnavailable
from toolcrib.features.backup.manifest import BackupRefused
from toolcrib.schema.system_failures import explained
from toolcrib.store.migrations import STEPS, applied_steps, apply_steps, migrate
from toolcrib.store.snapshots import open_existing
from toolcrib.store.tables import feature_tables

_INTERNAL = re.compile(r"sqlite_(?:sequence|stat[0-9])")
_FULL_TEXT = re.compile(r"chat_words_(?:data|idx|content|docsize|config)")
"""Created by SQLite itself, with texts that depend on its version."""
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
_OTHER = "Use another copy of the backup."
Change = Callable[[sqlite3.Connection], None]


def check_database(file: Path) -> None:
    """Raises `BackupRefused` unless it is a sound database of this or an earlier version; migrates it."""
    with _opened(file) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(STEPS):
            raise BackupRefused(
                "The database in the backup was written by a newer Toolcrib.",
                hint="Update Toolcrib on this machine, then restore it.",
            )
        if version < 1 or _schema(connection) != _expected(version, connection):
            raise BackupRefused("The database in the backup has a foreign schema.", hint=_OTHER)
        _check_pages(connection)
        migrate(connection)


def check_plain(file: Path, part: Part) -> None:
    """Raises `BackupRefused` if the database of a feature is damaged, or contains more than rows."""
    with _opened(file) as connection:
        rows = connection.execute(_SCHEMA).fetchall()
        if any(kind not in ("table", "index") or _is_virtual(sql) for kind, _, _, sql in rows):
            raise BackupRefused(
                f"The database of {part.title} in the backup has a foreign schema.", hint=_OTHER
            )
        _check_pages(connection)
        if part.problem is not None and (problem := part.problem(connection)):
            raise BackupRefused(problem, hint=_OTHER)


def change(file: Path, work: Change) -> None:
    """Change a staged database; raises `BackupRefused` if that fails."""
    with _opened(file) as connection:
        connection.execute("BEGIN IMMEDIATE")
        work(connection)
        connection.execute("COMMIT")


def forget_questions(connection: sqlite3.Connection) -> None:
    """An approval that was asked for would let its call run twice."""
    connection.execute("DELETE FROM approval_requests WHERE answer IS NULL")


def forget_browsers(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM page_keys")


def forget_approvals(connection: sqlite3.Connection) -> None:
    """Nothing may start or run because another home allowed it; rules that deny or ask stay."""
    for table in ("trust", "tool_pins", "approval_requests"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours
    connection.execute(
        "UPDATE approval_rules SET off = 1 WHERE NOT json_valid(rule)"
        " OR coalesce(json_extract(rule, '$.effect'), '') NOT IN ('deny', 'ask')"
    )


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(open_existing(file)) as connection:
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA journal_mode = DELETE")
            yield connection
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        reason = explained(error)
        if isinstance(reason, DatabaseUnavailable):  # a full disk, not a damaged backup
            raise reason from error
        raise BackupRefused(f"{file.name} in the backup is damaged: {error}."[:300], hint=_OTHER) from error


def _schema(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    rows = connection.execute(_SCHEMA).fetchall()
    return [row for row in rows if row[0] != "table" or not _is_made_by_sqlite(row[1])]


def _is_made_by_sqlite(name: str) -> bool:
    return bool(_INTERNAL.fullmatch(name) or _FULL_TEXT.fullmatch(name))


def _expected(version: int, checked: sqlite3.Connection) -> list[tuple[str, ...]]:
    """The schema of this version, with those tables of features that the checked database has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        apply_steps(connection, STEPS[:version])
        for tables in feature_tables():
            for step in tables.steps[: applied_steps(checked, tables)]:
                for statement in step.sqlite:
                    connection.execute(statement)
        return _schema(connection)


def _check_pages(connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        raise BackupRefused(f"A database in the backup is damaged: {found}"[:300], hint=_OTHER)


def _is_virtual(sql: str | None) -> bool:
    return sql is not None and re.match(r"\s*create\s+virtual", sql, re.IGNORECASE) is not None

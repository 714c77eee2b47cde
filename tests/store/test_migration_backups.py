"""The database is copied before its schema changes, and the last three copies are kept."""

from __future__ import annotations

import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.store.database import KEPT, migration_backups, open_database
from toolcrib.store.migrations import STEPS, apply_steps
from toolcrib.store.snapshots import copy_database


def old_database(path: Path, version: int, title: str) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply_steps(connection, STEPS[:version])
        connection.execute("INSERT INTO trust VALUES ('s', ?, 1)", (title,))


def content(path: Path) -> tuple[int, str]:
    with closing(sqlite3.connect(path)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        return version, connection.execute("SELECT launch FROM trust").fetchone()[0]


async def test_an_old_database_is_copied_before_it_is_migrated_and_three_copies_are_kept(
    tmp_path: Path,
) -> None:
    path = tmp_path / "toolcrib.db"

    for number in range(KEPT + 2):
        old_database(path, 5 + number, f"home {number}")
        async with open_database(path):
            pass

    copies = migration_backups(path)
    assert [content(copy) for copy in copies] == [(5 + n, f"home {n}") for n in range(2, KEPT + 2)]
    assert {stat.S_IMODE(copy.stat().st_mode) for copy in copies} == {0o600}
    assert content(path)[0] == len(STEPS)


async def test_a_new_and_a_current_database_are_not_copied(tmp_path: Path) -> None:
    for _ in range(2):
        async with open_database(tmp_path / "toolcrib.db"):
            pass

    assert migration_backups(tmp_path / "toolcrib.db") == []


async def test_a_database_that_cannot_be_copied_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    old_database(path, 6, "kept")
    (tmp_path / "backups").write_text("a file in the way")

    with pytest.raises(ConfigError):
        async with open_database(path):
            pass

    assert content(path) == (6, "kept")


def test_a_copy_is_consistent_while_others_write(tmp_path: Path) -> None:
    """Every transaction moves one unit; a copy of the middle of one would have another sum."""
    path, ended = tmp_path / "a.db", threading.Event()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE two (id INTEGER PRIMARY KEY, amount INTEGER, filler TEXT)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO two VALUES (?, 100, ?)", [(n, "x" * 3000) for n in range(9000)])
        connection.execute("COMMIT")

    def write() -> None:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as writer:
            number = 0
            while not ended.is_set():
                number = (number + 7919) % 9000
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("UPDATE two SET amount = amount - 1 WHERE id = ?", (number,))
                writer.execute("UPDATE two SET amount = amount + 1 WHERE id = ?", (8999 - number,))
                writer.execute("COMMIT")

    thread = threading.Thread(target=write)
    thread.start()
    steps: list[int] = []
    try:
        copy_database(path, tmp_path / "copy.db", lambda done, total: steps.append(done))
    finally:
        ended.set()
        thread.join()

    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("SELECT sum(amount), count(*) FROM two").fetchone() == (900_000, 9000)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(steps) > 2
    assert steps == sorted(steps), "the copy started again"

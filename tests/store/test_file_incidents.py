"""The file of the database, changed by others while it is in use: noticed, reported, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.store import database as database_module
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.database import AsyncDatabase, open_database
from toolcrib.store.incidents import incident_file, unconfirmed


def _delete(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _delete_log(path: Path) -> None:
    path.with_name("toolcrib.db-wal").unlink()


def _put_folder(path: Path) -> None:
    _delete(path)
    path.mkdir()
    (path / "a file").write_text("kept")


def _put_noise(path: Path) -> None:
    _delete(path)
    path.write_bytes(os.urandom(20_000))


def _put_empty(path: Path) -> None:
    _delete(path)
    path.touch()


def _put_foreign(path: Path) -> None:
    _delete(path)
    _make_foreign(path)


def _make_foreign(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks AS SELECT 1 AS n")
        other.execute("PRAGMA user_version = 3")
    other.close()


def _put_newer(path: Path) -> None:
    """The database of a newer version cannot be used by this one."""
    _delete(path)
    with sqlite3.connect(path) as newer:
        newer.execute("CREATE TABLE calls (of, a, later, version)")
        newer.execute("PRAGMA user_version = 9999")
    newer.close()


def _move_home(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def _delete_home(path: Path) -> None:
    shutil.rmtree(path.parent)


CHANGES = [
    _delete,
    _delete_log,
    _put_folder,
    _put_noise,
    _put_empty,
    _put_foreign,
    _put_newer,
    _move_home,
    _delete_home,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "toolcrib.db"


def _add(number: int) -> Callable[[DatabaseConnection], object]:
    return lambda connection: connection.execute("INSERT INTO numbers VALUES (?)", (number,))


async def _numbers(database: AsyncDatabase) -> list[int]:
    rows = await database.run(lambda connection: connection.execute("SELECT n FROM numbers").fetchall())
    return [number for (number,) in rows]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_file_that_is_lost_while_in_use_is_restored(
    path: Path, change: Callable[[Path], None]
) -> None:
    async with open_database(path) as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE numbers (n)"))
        await database.run(_add(1))
        change(path)
        await database.run(_add(2))
        assert await _numbers(database) == [1, 2]
        assert "restored" in str(database.incident)
        assert "restored" in incident_file(path).read_text()
    async with open_database(path) as database:
        assert await _numbers(database) == [1, 2]
        assert database.incident is None


async def test_what_was_put_in_its_place_is_kept_under_another_name(path: Path) -> None:
    async with open_database(path) as database:
        _put_folder(path)
        await database.run(lambda connection: connection.execute("SELECT 1"))
        assert [kept.read_text() for kept in path.parent.glob("*.replaced-*/a file")] == ["kept"]
        _put_foreign(path)
        await database.run(lambda connection: connection.execute("SELECT 1"))
    (kept,) = (file for file in path.parent.glob("*.replaced-*") if file.is_file())
    with sqlite3.connect(kept) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


async def test_a_file_that_cannot_be_restored_yet_stays_in_use(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "LOOK_AGAIN", 0.0)
    async with open_database(path) as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE numbers (n)"))
        shutil.rmtree(path.parent)
        path.parent.touch()  # no folder can be made there
        await database.run(_add(1))
        assert "cannot be restored yet" in str(database.incident)
        path.parent.unlink()
        await database.run(_add(2))
        assert "content was restored" in str(database.incident)
    async with open_database(path) as database:
        assert await _numbers(database) == [1, 2]


async def test_a_database_of_another_program_is_refused_and_not_changed(path: Path) -> None:
    path.parent.mkdir()
    _make_foreign(path)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="another program") as caught:
        async with open_database(path):
            pass
    assert "TOOLCRIB_HOME" in caught.value.hint
    assert path.read_bytes() == before


async def test_an_empty_file_is_reported_when_it_is_opened(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    async with open_database(path) as database:
        assert "was empty" in str(database.incident)
    assert "was empty" in incident_file(path).read_text()


async def _opened(path: Path) -> None:
    async with open_database(path) as database:
        await database.run(_note_call)


def _note_call(connection: DatabaseConnection) -> None:
    connection.execute("PRAGMA user_version").fetchone()


def _replace(path: Path) -> None:
    other = path.with_name("other") / path.name
    other.parent.mkdir()
    asyncio.run(_opened(other))
    _delete(path)
    shutil.copy(other, path)


@pytest.mark.parametrize(
    ("change", "what"), [(_put_empty, "empty"), (_delete, "missing"), (_replace, "replaced")]
)
async def test_a_database_changed_while_no_host_ran_is_reported_until_it_is_confirmed(
    path: Path, change: Callable[[Path], None], what: str
) -> None:
    await _opened(path)
    await _opened(path)
    assert unconfirmed(path) is None
    await asyncio.to_thread(change, path)

    for _ in range(3):
        await _opened(path)
        incident, advice = unconfirmed(path) or ("", "")
        assert f"was {what}" in incident
        assert "toolcrib restore FILE" in advice
    assert len(incident_file(path).read_text().splitlines()) == 1

    incident_file(path).unlink()
    await _opened(path)
    assert unconfirmed(path) is None


async def test_the_last_copy_is_offered(path: Path) -> None:
    await _opened(path)
    copy = path.parent / "backups" / "toolcrib-v9-20260101T000000.db"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    _delete(path)
    await _opened(path)

    incident, advice = unconfirmed(path) or ("", "")

    assert "was missing" in incident
    assert f"cp {copy} {path}" in advice
    _delete(path)
    shutil.copy(copy, path)
    await _opened(path)
    assert unconfirmed(path) is None

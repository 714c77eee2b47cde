from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
from functools import partial
from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.store.database import open_database, transact
from toolcrib.store.migrations import STEPS, apply_steps


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_file_is_made_private_and_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "toolcrib.db"

    async with open_database(path) as database:
        await database.run(
            lambda connection: connection.execute("INSERT INTO tool_lists VALUES (1,1,1,1,1,1,1)")
        )
        version, journal, synchronous = await database.run(
            lambda connection: [
                connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("user_version", "journal_mode", "synchronous")
            ]
        )
        modes = {mode(file) for file in path.parent.iterdir()}

    assert (version, journal, synchronous) == (len(STEPS), "wal", 1)
    assert modes == {0o600}
    assert mode(path.parent) == 0o700


async def test_a_file_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    path.touch(mode=0o644)

    async with open_database(path):
        assert mode(path) == 0o600


COLUMNS = "server, fingerprint, protocol, definitions, saved_at"


def insert(number: int, connection: sqlite3.Connection) -> None:
    connection.execute(f"INSERT INTO tool_lists ({COLUMNS}) VALUES (?, 'f', 'p', '[]', 0)", (str(number),))


def count(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        rows: int = connection.execute("SELECT count(*) FROM tool_lists").fetchone()[0]
        return rows


async def test_all_work_is_done_in_order_by_one_thread_of_its_own(tmp_path: Path) -> None:
    seen: list[tuple[int, str]] = []

    def note(number: int, connection: sqlite3.Connection) -> None:
        seen.append((number, threading.current_thread().name))

    async with open_database(tmp_path / "toolcrib.db") as database:
        for number in range(100):
            database.submit(partial(note, number))
        await database.run(lambda connection: None)

    assert [number for number, _ in seen] == list(range(100))
    assert len({name for _, name in seen}) == 1
    assert seen[0][1] != threading.main_thread().name


async def test_what_was_handed_over_is_written_before_the_block_is_left(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"

    async with open_database(path) as database:
        for number in range(100):
            database.submit(partial(insert, number))

    assert count(path) == 100


async def test_a_cancelled_owner_still_leaves_everything_written(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    ready = asyncio.Event()

    async def own() -> None:
        async with open_database(path) as database:
            for number in range(100):
                database.submit(partial(insert, number))
            ready.set()
            await asyncio.Event().wait()

    owner = asyncio.create_task(own())
    await asyncio.wait_for(ready.wait(), 60)

    owner.cancel()

    with pytest.raises(asyncio.CancelledError):
        await owner
    assert count(path) == 100


async def test_an_error_reaches_whoever_waits_and_undoes_the_whole_transaction(tmp_path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO tool_lists VALUES ('a', 'f', 'p', NULL, '[]', 0, '')")
        connection.execute("INSERT INTO nowhere VALUES (1)")

    async with open_database(tmp_path / "toolcrib.db") as database:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            await database.run(lambda connection: transact(connection, half))

    assert count(tmp_path / "toolcrib.db") == 0


@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
async def test_a_file_that_is_no_database_is_refused_with_a_way_out(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "toolcrib.db"
    path.write_bytes(content)

    with pytest.raises(ConfigError, match="cannot be used") as caught:
        async with open_database(path):
            pass

    assert "toolcrib restore FILE" in caught.value.hint
    assert path.read_bytes() == content


async def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        async with open_database(tmp_path):
            pass


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")

    with pytest.raises(ConfigError, match="newer"):
        async with open_database(path):
            pass


def test_an_older_file_is_brought_up_to_date_step_by_step(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "toolcrib.db", isolation_level=None)
    steps = (("CREATE TABLE one (a)",), ("INSERT INTO one VALUES (1)", "CREATE TABLE two (b)"))

    apply_steps(connection, steps[:1])
    apply_steps(connection, steps)
    apply_steps(connection, steps)

    assert connection.execute("SELECT a FROM one").fetchall() == [(1,)]
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_step_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "toolcrib.db", isolation_level=None)

    with pytest.raises(sqlite3.OperationalError):
        apply_steps(connection, (("CREATE TABLE one (a)", "INSERT INTO nowhere VALUES (1)"),))

    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)


async def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"

    async def open_and_write(number: int) -> None:
        async with open_database(path) as database:
            await database.run(partial(insert, number))

    async with asyncio.timeout(30):
        await asyncio.gather(*(open_and_write(number) for number in range(8)))

    assert count(path) == 8


async def test_what_nobody_waits_for_is_written_in_order_once_a_lock_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    async with open_database(path) as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE t (n INTEGER)"))
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        writes = [
            database.keep(lambda connection, n=n: connection.execute("INSERT INTO t VALUES (?)", (n,)))
            for n in range(20)
        ]
        async with asyncio.timeout(60):
            while database.trouble is None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            # Readers are not held up.
            assert (
                await database.run(lambda connection: connection.execute("SELECT * FROM t").fetchall()) == []
            )
            holder.execute("ROLLBACK")
            await asyncio.gather(*map(asyncio.wrap_future, writes))
        rows = await database.run(lambda connection: connection.execute("SELECT n FROM t").fetchall())
        assert rows == [(n,) for n in range(20)]
        assert database.trouble is None
    holder.close()


async def test_a_deleted_file_is_written_again_with_all_that_was_in_it(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    async with open_database(path) as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE t AS SELECT 7 AS n"))
        for file in tmp_path.iterdir():
            file.unlink()
        rows = await database.run(lambda connection: connection.execute("SELECT n FROM t").fetchall())
        assert rows == [(7,)]
        assert "deleted" in str(database.incident)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT n FROM t").fetchall() == [(7,)]


async def test_an_emptied_file_is_made_anew_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    async with open_database(path) as database:
        await database.run(
            lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        )
        path.write_bytes(b"")
        count = await database.run(
            lambda connection: connection.execute("SELECT count(*) FROM calls").fetchone()
        )
        assert count == (0,)
        assert "emptied" in str(database.incident)


async def test_a_replaced_file_is_used_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    other = tmp_path / "other.db"
    async with open_database(other) as database:
        await database.run(lambda connection: connection.execute("CREATE TABLE t AS SELECT 8 AS n"))
    async with open_database(path) as database:
        for file in tmp_path.glob("toolcrib.db-*"):
            file.unlink()
        other.replace(path)
        rows = await database.run(lambda connection: connection.execute("SELECT n FROM t").fetchall())
        assert rows == [(8,)]
        assert database.incident


async def test_a_file_that_another_process_locks_is_named_as_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.store.database.BUSY_SECONDS", 0.05)
    path = tmp_path / "toolcrib.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ConfigError, match="is locked by another process"):
        async with open_database(path):
            pass
    holder.close()

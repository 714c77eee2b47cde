"""A locked or stalled database: nobody waits for long, nothing is lost in silence, the order stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.store.records import Noon, record
from tests.store.test_audit import held, until
from toolcrib.agent.chat import HistorySummary
from toolcrib.errors import DatabaseUnavailable
from toolcrib.store import work_queue
from toolcrib.store.audit import AuditLog
from toolcrib.store.chats import Chats
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.database import open_database
from toolcrib.store.work_queue import AsyncDatabase

COLUMNS = "server, fingerprint, protocol, definitions, saved_at"


def insert(server: str, connection: DatabaseConnection) -> None:
    connection.execute(f"INSERT INTO tool_lists ({COLUMNS}) VALUES (?, 'f', 'p', '[]', 0)", (server,))


def servers(connection: DatabaseConnection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT server FROM tool_lists ORDER BY server")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolcrib.db"


@contextlib.contextmanager
def stalled(database: AsyncDatabase) -> Iterator[None]:
    """The disk does not answer while the block runs."""
    begun, goes_on = threading.Event(), threading.Event()

    def hang(connection: DatabaseConnection) -> None:
        begun.set()
        goes_on.wait(60)

    database.submit(hang)
    begun.wait(60)
    try:
        yield
    finally:
        goes_on.set()


async def test_reads_are_answered_while_many_writers_wait_for_a_lock(path: Path) -> None:
    async with open_database(path) as database:
        async with held(path) as let_go:
            writers = [asyncio.ensure_future(database.run(partial(insert, f"s{n}"))) for n in range(20)]
            for _ in range(5):
                assert await database.run(servers) == []
            assert not any(writer.done() for writer in writers)
            await let_go()
        await asyncio.gather(*writers)
        assert len(await database.run(servers)) == 20


async def test_all_writers_fail_with_the_reason_while_the_lock_is_still_held(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "BUSY_SECONDS", 0.3)
    async with open_database(path) as database, held(path):
        writers = [database.run(partial(insert, f"s{number}")) for number in range(10)]
        for error in await asyncio.gather(*writers, return_exceptions=True):
            assert isinstance(error, DatabaseUnavailable)
            assert "locked by another process" in error.message
            assert error.hint


async def test_a_read_transaction_that_became_stale_is_repeated(path: Path) -> None:
    """SQLITE_BUSY_SNAPSHOT: another process wrote between our read and our write."""
    attempts = 0

    def read_then_write(connection: DatabaseConnection) -> None:
        nonlocal attempts
        attempts += 1
        connection.execute("BEGIN")
        try:
            servers(connection)
            if attempts == 1:
                with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                    insert("other", other)
            insert("own", connection)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    async with open_database(path) as database:
        await database.run(read_then_write)
        assert await database.run(servers) == ["other", "own"]
    assert attempts == 2


async def test_a_disk_that_does_not_answer_fails_questions_and_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "ANSWER_SECONDS", 0.2)
    monkeypatch.setattr(work_queue, "SLOW_SECONDS", 0.0)
    async with open_database(path) as database, AuditLog(database, clock=Noon()) as audit:
        with stalled(database):
            with pytest.raises(DatabaseUnavailable, match="did not answer"):
                await database.run(servers)
            written = database.keep(partial(insert, "kept"))
            audit.record(record(1))
            assert "no answer" in (database.trouble or "")
            assert (database.waiting, audit.waiting) == (1, 1)
        await asyncio.wrap_future(written)
        monkeypatch.setattr(work_queue, "SLOW_SECONDS", 60.0)
        assert database.trouble is None
        await audit.flush()
        assert (database.lost, audit.lost) == (0, 0)


async def test_waiting_writes_are_bounded_and_the_rest_is_counted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "MAX_KEPT", 10)
    async with open_database(path) as database:
        with stalled(database):
            writes = [database.keep(partial(insert, f"s{number}")) for number in range(15)]
        results = await asyncio.gather(*map(asyncio.wrap_future, writes), return_exceptions=True)
        assert [isinstance(one, DatabaseUnavailable) for one in results] == [False] * 10 + [True] * 5
        assert database.lost == 5
        assert await database.run(servers) == [f"s{number}" for number in range(10)]


async def test_a_chat_is_never_read_without_the_messages_that_wait(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "BUSY_SECONDS", 0.3)
    async with open_database(path) as database:
        chats = Chats(database, Noon())
        chat = await chats.create("demo")
        async with held(path) as let_go:
            for position in range(3):
                chats.append(chat.id, position, HistorySummary(covers=0, text=f"message {position}"))
            await until(lambda: database.waiting == 3)
            with pytest.raises(DatabaseUnavailable, match="locked by another process"):
                await chats.load(chat.id)
            await let_go()
        loaded = await chats.load(chat.id)
        assert loaded.entries == [
            HistorySummary(covers=0, text=f"message {position}") for position in range(3)
        ]
        assert database.lost == 0


async def test_a_full_disk_fails_questions_with_the_reason(path: Path) -> None:
    def fill(connection: DatabaseConnection) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        insert("x" * 5_000_000, connection)

    async with open_database(path) as database:
        with pytest.raises(DatabaseUnavailable, match="full"):
            await database.run(fill)


async def test_a_locked_table_of_postgresql_is_named_and_blocks_nothing_else(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "BUSY_SECONDS", 0.1)
    async with open_database(postgres_url) as database:
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE tool_lists IN EXCLUSIVE MODE")
            kept = database.keep(partial(insert, "kept"))
            with pytest.raises(DatabaseUnavailable, match="lock timeout"):
                await database.run(partial(insert, "asked"))
            assert await database.run(servers) == []
        await asyncio.wrap_future(kept)
        assert await database.run(servers) == ["kept"]


@contextlib.asynccontextmanager
async def stopped_server(database: AsyncDatabase):
    """The process of PostgreSQL that serves our connection stands still."""
    statement = "SELECT pg_backend_pid()"
    pid = (await database.run(lambda connection: connection.execute(statement).fetchone()))[0]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def test_a_stalled_postgresql_delays_one_moment_of_calls_and_loses_no_record(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.store.audit.SETTLE_SECONDS", 0.2)
    monkeypatch.setattr(work_queue, "ANSWER_SECONDS", 0.2)
    async with open_database(postgres_url) as database, AuditLog(database, clock=Noon()) as audit:
        async with stopped_server(database):
            audit.record(record(0))
            await audit.settle()
            monkeypatch.setattr("toolcrib.store.audit.SETTLE_SECONDS", 600)
            for number in range(1, 500):
                audit.record(record(number))
                await audit.settle()  # would wait for ten minutes
            with pytest.raises(DatabaseUnavailable, match="did not answer"):
                await database.run(servers)
        monkeypatch.setattr(work_queue, "ANSWER_SECONDS", 60)
        await audit.flush()
        found = await audit.query(1000)
        assert [one.time for one in reversed(found)] == [record(number).time for number in range(500)]
        assert audit.lost == 0


async def test_a_connection_that_stalls_for_too_long_is_replaced(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_queue, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(work_queue, "GIVE_UP_SECONDS", 0.1)
    async with open_database(postgres_url) as database, stopped_server(database):
        with pytest.raises(DatabaseUnavailable):
            await database.run(servers)
        monkeypatch.setattr(work_queue, "ANSWER_SECONDS", 60)
        assert await database.run(servers) == []

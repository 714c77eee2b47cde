"""PostgreSQL: opened by many at once, lost and found again, with every text that SQLite stores."""

from __future__ import annotations

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

import psycopg
import pytest

from tests.databases.postgres import PostgresProcess, running_postgres
from tests.store.records import record
from toolcrib.errors import ConfigError, DatabaseRefused, DatabaseUnavailable, DatabaseUnreachable
from toolcrib.schema.tools import ToolDefinition
from toolcrib.store.audit import AuditLog
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.database import open_database
from toolcrib.store.migrations import migrate
from toolcrib.store.postgres.migrations import STEPS
from toolcrib.store.tool_history import ToolHistory

COLUMNS = "server, fingerprint, protocol, definitions, saved_at"


def insert(server: str, connection: DatabaseConnection) -> None:
    connection.execute(f"INSERT INTO tool_lists ({COLUMNS}) VALUES (?, 'f', 'p', '[]', 0)", (server,))


def servers(connection: DatabaseConnection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT server FROM tool_lists ORDER BY server")]


async def test_many_may_create_the_tables_at_once(postgres_url: str) -> None:
    async def open_and_write(number: int) -> None:
        async with open_database(postgres_url) as database:
            await database.run(partial(insert, f"s{number}"))

    async with asyncio.timeout(60):
        await asyncio.gather(*(open_and_write(number) for number in range(8)))

    async with open_database(postgres_url) as database:
        assert await database.run(servers) == [f"s{number}" for number in range(8)]


async def test_both_databases_have_the_same_columns(postgres_url: str, tmp_path: Path) -> None:
    shared_only = {"schema_version", "revisions", "gateway_profiles", "moved_from", "database_key"}
    async with open_database(postgres_url) as database:
        rows = await database.run(
            lambda connection: connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = current_schema()"
            ).fetchall()
        )
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    migrate(connection)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    columns = {
        (table, column[1])
        for (table,) in tables
        if not table.startswith("chat_words_")
        for column in connection.execute(f"PRAGMA table_info({table})")
    }

    assert {row for row in rows if row[0] not in shared_only} == columns


async def test_a_database_of_a_newer_version_is_refused(postgres_url: str) -> None:
    async with open_database(postgres_url) as database:
        await database.run(
            lambda connection: connection.execute(f"UPDATE schema_version SET number = {len(STEPS) + 1}")
        )

    with pytest.raises(ConfigError, match="newer Toolcrib"):
        async with open_database(postgres_url):
            pass


async def test_an_unreachable_server_is_named_without_the_password(postgres: PostgresProcess) -> None:
    with pytest.raises(DatabaseUnreachable, match="cannot be used") as caught:
        async with open_database("postgresql://someone:hunter2@127.0.0.1:1/nowhere"):
            pass

    assert "hunter2" not in str(caught.value)
    assert "toolcrib settings unset database" in caught.value.hint


async def test_an_error_undoes_the_whole_transaction(postgres_url: str) -> None:
    def half(connection: DatabaseConnection) -> None:
        insert("a", connection)
        connection.execute("INSERT INTO nowhere VALUES (1)")

    async with open_database(postgres_url) as database:
        with pytest.raises(DatabaseRefused, match="nowhere"):
            await database.run(lambda connection: transact(connection, half))
        assert await database.run(servers) == []


async def test_a_connection_that_the_server_closed_is_opened_again(
    postgres: PostgresProcess, postgres_url: str
) -> None:
    async with open_database(postgres_url) as database:
        (backend,) = await database.run(
            lambda connection: connection.execute("SELECT pg_backend_pid()").fetchone()
        )
        with psycopg.connect(postgres.url(), autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 10000)", (backend,))

        await database.run(partial(insert, "a"))

        assert await database.run(servers) == ["a"]


async def test_writes_wait_while_the_server_is_away_and_questions_say_so() -> None:
    with running_postgres() as server:
        async with open_database(server.url()) as database, AuditLog(database) as audit:
            server.stop(kill=True)
            written = [database.keep(partial(insert, f"s{number}")) for number in range(5)]
            audit.record(record(1))
            with pytest.raises(DatabaseUnavailable, match="cannot be used at the moment") as caught:
                await database.run(servers)
            await _until(lambda: database.waiting == 5 and audit.waiting == 1)

            server.start()
            async with asyncio.timeout(60):
                await asyncio.gather(*map(asyncio.wrap_future, written))
                while not await audit.query():
                    await database.run(lambda connection: None)

            assert "PostgreSQL is running" in caught.value.hint
            assert await database.run(servers) == [f"s{number}" for number in range(5)]
            assert database.trouble is None
            assert (audit.waiting, audit.lost) == (0, 0)


async def test_a_record_that_is_written_twice_counts_once(postgres_url: str) -> None:
    async with open_database(postgres_url) as database, AuditLog(database) as audit:
        for _ in range(2):
            audit.record(record(1))
            await audit.flush()

        assert len(await audit.query()) == 1


@pytest.mark.parametrize("name", ["plain", "nul\0inside", "lone\ud800surrogate", "\ufdd0marked", "🙂"])
async def test_tool_names_of_every_text_stay_different(postgres_url: str, name: str) -> None:
    definition = ToolDefinition(name=name, raw={"name": name})
    async with open_database(postgres_url) as database:
        history = await ToolHistory.open(database)
        history.observe("s", [(definition, "h1")])
        await database.run(lambda connection: None)

        assert list((await ToolHistory.open(database)).recall("s")) == [name]
        assert history.errors == 0


@pytest.mark.parametrize("text", ["nul\0", "lone\udfff", "\ud83d\ude42 pair", "back\\u0000slash", "\ud800\0"])
async def test_json_with_every_text_can_be_searched(postgres_url: str, text: str) -> None:
    async with open_database(postgres_url) as database, AuditLog(database) as audit:
        audit.record(record(1, error=text, extra={"rule": "r1", "reason": text}))
        found = await audit.look(
            lambda connection: connection.execute(
                "SELECT json_extract(extra, '$.rule') FROM calls WHERE json_extract(extra, '$.reason') <> ''"
            ).fetchall()
        )
        assert found == [("r1",)]
        assert audit.lost == 0


async def _until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)

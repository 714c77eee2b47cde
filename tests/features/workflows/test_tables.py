"""The tables of triggers: the same in a new database, and in one of every earlier version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from toolcrib.features.workflows.tables import TABLES
from toolcrib.store.connection import DatabaseConnection, transact
from toolcrib.store.database import migration_backups, open_database
from toolcrib.store.migrations import STEPS, apply_steps

BEFORE = {10: 0, 11: 1, 12: 2}
"""By the version of a database that was written before the feature had steps of its own: how many it has."""


def old_database(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply_steps(connection, STEPS[:version])
        for step in TABLES.steps[: BEFORE[version]]:
            for statement in step.sqlite:
                connection.execute(statement)


def schema(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.mark.parametrize("version", BEFORE)
async def test_a_database_of_an_earlier_version_gets_the_tables_of_a_new_one(
    tmp_path: Path, version: int
) -> None:
    async with open_database(tmp_path / "new.db"):
        pass
    old_database(tmp_path / "old.db", version)

    async with open_database(tmp_path / "old.db"):
        pass

    assert schema(tmp_path / "old.db") == schema(tmp_path / "new.db")


async def test_a_database_made_without_the_feature_is_copied_and_gets_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "toolcrib.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply_steps(connection, STEPS)

    async with open_database(path) as database:
        count = await database.run(lambda c: c.execute("SELECT count(*) FROM workflow_starts").fetchone()[0])

    assert count == 0
    assert len(migration_backups(path)) == 1


@pytest.mark.parametrize("version", [2, 3])
async def test_a_shared_database_of_an_earlier_version_gets_the_same_columns(
    postgres_url: str, version: int
) -> None:
    def columns(connection: DatabaseConnection) -> list[tuple[str, str]]:
        query = (
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
        )
        return [tuple(row) for row in connection.execute(query).fetchall()]

    def take_back(connection: DatabaseConnection) -> None:
        """As version 2 left it, or version 3 without the feature."""
        if version == 3:
            connection.execute("DROP TABLE workflow_triggers")
            connection.execute("DROP TABLE workflow_starts")
            return
        for table in ("workflow_triggers", "workflow_starts"):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN decided")

    async with open_database(postgres_url) as database:
        before = await database.run(columns)
        await database.run(lambda connection: transact(connection, take_back))

    async with open_database(postgres_url) as database:
        assert await database.run(columns) == before

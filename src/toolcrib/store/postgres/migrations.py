"""Enters the schema of a crib and creates its tables; several hosts may do so at once.

The schema is `toolcrib`, or the one that the URL names: `?options=-csearch_path%3Dteam`.
"""

from __future__ import annotations

import re
from itertools import chain

from psycopg.conninfo import conninfo_to_dict

from toolcrib.errors import ConfigError
from toolcrib.store.connection import transact
from toolcrib.store.postgres.connection import PostgresConnection
from toolcrib.store.postgres.schema import STEPS
from toolcrib.store.tables import FeatureTables, feature_tables

SCHEMA = "toolcrib"
LOCK = 0x746F6F6C63726962
"""The key of the advisory lock: `toolcrib` in ASCII."""
_CHOSEN = re.compile(r"search_path=\"?(\w+)")
Steps = tuple[tuple[str, ...], ...]


def schema_of(url: str) -> str:
    chosen = _CHOSEN.search(str(conninfo_to_dict(url).get("options") or ""))
    return chosen[1] if chosen else SCHEMA


def migrate(connection: PostgresConnection, url: str, steps: Steps = STEPS) -> None:
    """Enter the schema and apply missing steps."""
    schema = schema_of(url)
    # `public` is where extensions are.
    connection.execute(f'SET search_path TO "{schema}", public')
    version = _version(connection, schema)
    if version < len(steps) or (version == len(steps) and _lacks_feature_steps(connection)):
        transact(connection, lambda within: _apply(connection, schema, steps))
    elif version > len(steps):
        raise ConfigError(
            "The database was written by a newer Toolcrib.",
            hint="Update Toolcrib, or choose another database or schema.",
        )


def _apply(connection: PostgresConnection, schema: str, steps: Steps) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
    connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    connection.execute("CREATE TABLE IF NOT EXISTS schema_version (number INTEGER NOT NULL)")
    # Another host may have applied steps while this one waited for the lock.
    missing = list(steps[_version(connection, schema) :])
    for tables in feature_tables():
        missing += [step.postgres for step in tables.steps[_applied(connection, tables) :]]
    for statement in chain.from_iterable(missing):
        connection.raw.execute(statement.encode())
    connection.execute("DELETE FROM schema_version")
    connection.execute("INSERT INTO schema_version VALUES (?)", (len(steps),))


def _lacks_feature_steps(connection: PostgresConnection) -> bool:
    return any(_applied(connection, tables) < len(tables.steps) for tables in feature_tables())


def _applied(connection: PostgresConnection, tables: FeatureTables) -> int:
    def has_column(table: str, column: str) -> bool:
        found = connection.execute(
            "SELECT 1 FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND table_name = ? AND column_name = ?",
            (table, column),
        )
        return found.fetchone() is not None

    return tables.applied(has_column)


def _version(connection: PostgresConnection, schema: str) -> int:
    found = connection.execute("SELECT to_regclass(?)", (f'"{schema}".schema_version',)).fetchone()
    if found is None or found[0] is None:
        return 0
    row = connection.execute("SELECT number FROM schema_version").fetchone()
    return 0 if row is None else int(row[0])

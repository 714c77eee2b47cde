"""Statements that run for every step: built and compiled once, and given to the driver with their values.

Building and compiling a statement costs several times as much CPU as SQLite needs to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

Key = tuple[str | None, ...]


class Prepared:
    """One statement in each dialect. The driver gets the values unchanged, by the names of parameters."""

    def __init__(self, build: Callable[[sa.Dialect], sa.UpdateBase | sa.Select[Any]]) -> None:
        self._build = build
        self._compiled: dict[Key, str] = {}

    def run(self, connection: sa.Connection, **values: Any) -> sa.CursorResult[Any]:
        schemas = connection.get_execution_options().get("schema_translate_map", {})
        key = (connection.dialect.name, *schemas.values())
        text = self._compiled.get(key) or self._compile(connection.dialect, schemas, key)
        return connection.exec_driver_sql(text, values)

    def _compile(self, dialect: sa.Dialect, schemas: Mapping[str, str | None], key: Key) -> str:
        statement = self._build(dialect)
        compiled = statement.compile(
            dialect=_with_names(dialect), schema_translate_map=schemas, render_schema_translate=True
        )
        text = self._compiled[key] = str(compiled)
        return text


def _with_names(dialect: sa.Dialect) -> sa.Dialect:
    """By default the parameters of SQLite have no names."""
    if dialect.name != "sqlite":
        return dialect
    named = sqlite.dialect(paramstyle="named")
    named.default_schema_name = dialect.default_schema_name
    return named

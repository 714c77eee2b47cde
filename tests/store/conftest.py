"""Runs the tests of stores on both databases: `open_database(path)` opens SQLite or a PostgreSQL schema."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.databases.postgres import PostgresProcess, drop_schema, postgres, postgres_url
from toolcrib.config.database_key import Signer
from toolcrib.store.database import open_database
from toolcrib.store.work_queue import AsyncDatabase

__all__ = ["postgres", "postgres_url"]

KEY = Signer(b"k" * 32)
ON_BOTH = (
    "test_approvals",
    "test_audit_search",
    "test_chats",
    "test_page_keys",
    "test_tool_history",
    "test_tool_lists",
)
"""Files whose tests know nothing of the database."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.rpartition(".")[2] in ON_BOTH and not _knows_sqlite(metafunc):
        metafunc.parametrize("_engine", ["sqlite", "postgres"], indirect=True)


def _knows_sqlite(metafunc: pytest.Metafunc) -> bool:
    source = inspect.getsource(metafunc.function)
    return "sqlite3" in source or "PRAGMA" in source


@pytest.fixture(autouse=True)
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if getattr(request, "param", "sqlite") == "sqlite":
        yield
        return
    server: PostgresProcess = request.getfixturevalue("postgres")
    schemas: dict[Path, str] = {}

    def on_postgres(path: Path) -> AbstractAsyncContextManager[AsyncDatabase]:
        schema = schemas.setdefault(path, f"test_{secrets.token_hex(6)}")
        return open_database(server.url(schema=schema), KEY)

    monkeypatch.setattr(request.module, "open_database", on_postgres)
    yield
    for schema in schemas.values():
        drop_schema(server, schema)

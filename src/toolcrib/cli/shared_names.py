"""Reads names for completion from a shared database; a slow one is given up, for the user is typing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolcrib.errors import ToolcribError

PATIENCE = 2
"""Seconds to connect, and for each query."""


def tool_rows(home: Path | None, url: str) -> list[tuple[str, str]]:
    """The stored tool lists: server and definitions. Raises `ToolcribError`."""
    return _select(home, url, "SELECT server, definitions FROM tool_lists")


def profile_names(home: Path | None, url: str) -> list[str]:
    """Raises `ToolcribError`."""
    return [name for (name,) in _select(home, url, "SELECT name FROM gateway_profiles")]


def _select(home: Path | None, url: str, query: str) -> list[Any]:
    from toolcrib.config.database_url import connection_url
    from toolcrib.config.paths import find_paths
    from toolcrib.config.secrets import SecretStore

    try:
        from toolcrib.store.postgres.server import connect
    except ImportError as error:
        raise ToolcribError("PostgreSQL needs packages that are not installed.") from error
    address = connection_url(url, SecretStore(find_paths(home)))
    connection = connect(f"{address}{'&' if '?' in address else '?'}connect_timeout={PATIENCE}")
    try:
        connection.execute(f"SET statement_timeout = {PATIENCE * 1000}")
        return list(connection.execute(query).fetchall())
    finally:
        connection.raw.close()

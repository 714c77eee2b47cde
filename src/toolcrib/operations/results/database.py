"""Results of operations on the database."""

from __future__ import annotations

from typing_extensions import TypedDict


class DatabaseShown(TypedDict):
    database: str
    """The SQLite file, or the URL without its password."""
    shared: bool
    """Whether other hosts may use it."""
    tables: dict[str, int]
    """Rows by table."""
    local: str
    """What is not shared."""

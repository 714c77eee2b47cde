"""Results of operations on the database."""

from __future__ import annotations

from typing_extensions import TypedDict


class RefusedDecision(TypedDict):
    """A row without a valid signature, which is ignored."""

    kind: str
    """Such as `approval rule`."""
    id: str
    content: dict[str, str]
    """By column, cut if it is long."""
    decided_by: str
    """What the row claims; empty if nothing."""
    decided_on: str


class RefusedDecisions(TypedDict):
    rows: list[RefusedDecision]
    digest: str
    """Identifies exactly these rows."""


class DecisionsSigned(TypedDict):
    changed: int
    """Rows that were signed, or removed."""
    removed: bool


class DatabaseShown(TypedDict):
    database: str
    """The SQLite file, or the URL without its password."""
    shared: bool
    """Whether other hosts may use it."""
    tables: dict[str, int]
    """Rows by table."""
    local: str
    """What is not shared."""

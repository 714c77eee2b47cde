"""What stores ask of a connection: the part of `sqlite3.Connection` that PostgreSQL's also provides.

Statements are written once, in SQL that both understand, with `?` for values.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from toolcrib.errors import DatabaseRefused

T = TypeVar("T")

ROW_ERRORS = (sqlite3.Error, DatabaseRefused, UnicodeError, OverflowError)
"""A row that cannot be stored raises one of these."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """All remaining rows."""

    def __iter__(self) -> Iterator[Any]: ...


class DatabaseConnection(Protocol):
    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Rows: ...

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows: ...


@contextlib.contextmanager
def transaction(connection: DatabaseConnection) -> Iterator[None]:
    """One write transaction, committed when the block is left, unless it raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # A full disk may have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def transact(connection: DatabaseConnection, work: Callable[[DatabaseConnection], T]) -> T:
    """Run work in one write transaction."""
    with transaction(connection):
        return work(connection)


@contextlib.contextmanager
def statement_may_fail(connection: DatabaseConnection) -> Iterator[None]:
    """Keep the transaction usable if a statement fails; SQLite does so on its own."""
    if isinstance(connection, sqlite3.Connection):
        yield
        return
    connection.execute("SAVEPOINT statement")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO SAVEPOINT statement")
        raise
    connection.execute("RELEASE SAVEPOINT statement")


def contains_all(
    connection: DatabaseConnection, table: str, column: str, words: Sequence[str]
) -> tuple[str, list[str]]:
    """A clause for rows whose text contains all words, ignoring case; SQLite has a full-text index for it."""
    if isinstance(connection, sqlite3.Connection):
        quoted = ('"' + word.replace('"', '""') + '"' for word in words)
        return f"{table} MATCH ?", [" AND ".join(quoted)]
    clause = " AND ".join([f"{column} LIKE ? ESCAPE '\\'"] * len(words))
    return clause, [f"%{escaped_like(word)}%" for word in words]


def escaped_like(text: str) -> str:
    """Text without the meaning that `LIKE` gives to some characters."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

"""Values as the database stores them: times as microseconds since 1970, texts with lone surrogates as blobs.

Text in a database is UTF-8, which has no lone surrogates, and in PostgreSQL no null character. A blob never
equals a text, so that different texts stay different, also in a primary key. PostgreSQL keeps a blob as text
with a mark.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from toolcrib.store.connection import ROW_ERRORS, DatabaseConnection, statement_may_fail, transact

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
BLOB_MARK = "\ufdd0"
"""Begins a blob in a text column: no character, and in no text that `to_column` lets through."""


def to_stored(moment: datetime) -> int:
    """Exact, unlike seconds as a float."""
    return (moment - _EPOCH) // _MICROSECOND


def from_stored(stored: int) -> datetime:
    return _EPOCH + timedelta(microseconds=stored)


def to_column(text: str) -> str | bytes:
    if "\0" not in text and not text.startswith(BLOB_MARK):
        with contextlib.suppress(UnicodeEncodeError):
            text.encode()
            return text
    return text.encode("utf-8", "surrogatepass")


def from_column(stored: str | bytes) -> str:
    if isinstance(stored, str) and stored.startswith(BLOB_MARK):
        stored = bytes.fromhex(stored.removeprefix(BLOB_MARK))
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


logger = logging.getLogger(__name__)

Row = tuple[Any, ...]


def upsert(table: str, columns: Sequence[str], key: Sequence[str]) -> str:
    """The statement that adds a row, or replaces the one with this key."""
    marks = ", ".join("?" for _ in columns)
    replaced = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {replaced}"
    )


def write_each(connection: DatabaseConnection, statement: str, rows: Sequence[Row]) -> list[Row]:
    """Write rows in one transaction; returns those that could not be stored. Raises if none could."""
    return transact(connection, lambda within: [row for row in rows if not _wrote(within, statement, row)])


def _wrote(connection: DatabaseConnection, statement: str, row: Row) -> bool:
    try:
        with statement_may_fail(connection):
            connection.execute(statement, row)
    except ROW_ERRORS as error:
        if not connection.in_transaction:
            raise  # SQLite rolled back the whole transaction, as on a full disk
        logger.error("a row cannot be stored", extra={"reason": str(error)})
        return False
    return True

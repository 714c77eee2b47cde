"""Values as the database stores them: times as microseconds since 1970, texts with lone surrogates as blobs.

SQLite text is UTF-8, which has no lone surrogates. A blob never equals a text, so that different texts stay
different, also in a primary key.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from toolcrib.store.database import transact

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_stored(moment: datetime) -> int:
    """Exact, unlike seconds as a float."""
    return (moment - _EPOCH) // _MICROSECOND


def from_stored(stored: int) -> datetime:
    return _EPOCH + timedelta(microseconds=stored)


def to_column(text: str) -> str | bytes:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_column(stored: str | bytes) -> str:
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")


logger = logging.getLogger(__name__)

Row = tuple[Any, ...]


def write_each(connection: sqlite3.Connection, statement: str, rows: Sequence[Row]) -> list[Row]:
    """Write rows in one transaction; returns those that could not be stored. Raises `sqlite3.Error` if none
    could."""
    return transact(connection, lambda within: [row for row in rows if not _wrote(within, statement, row)])


def _wrote(connection: sqlite3.Connection, statement: str, row: Row) -> bool:
    try:
        connection.execute(statement, row)
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        if not connection.in_transaction:
            raise  # SQLite rolled back the whole transaction, as on a full disk
        logger.error("a row cannot be stored", extra={"reason": str(error)})
        return False
    return True

"""Writes rows one by one in a single transaction, so that a row which cannot be stored costs no other row."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from typing import Any

from toolcrib.store.database import transact

logger = logging.getLogger(__name__)

Row = tuple[Any, ...]


def write_each(connection: sqlite3.Connection, statement: str, rows: Sequence[Row]) -> list[Row]:
    """The rows that could not be stored; raises `sqlite3.Error` when none of them could be."""
    return transact(connection, lambda within: [row for row in rows if not _wrote(within, statement, row)])


def _wrote(connection: sqlite3.Connection, statement: str, row: Row) -> bool:
    try:
        connection.execute(statement, row)
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        if not connection.in_transaction:
            raise  # SQLite gave the whole transaction up, as it does on a full disk
        logger.error("a row cannot be stored", extra={"reason": str(error)})
        return False
    return True

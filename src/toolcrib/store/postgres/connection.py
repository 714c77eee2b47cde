"""A connection to PostgreSQL with the interface of `sqlite3.Connection` that stores use: translates
statements and values, and turns errors into messages (refused, or not usable at the moment).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import TransactionStatus

from toolcrib.errors import DatabaseError, DatabaseRefused, DatabaseUnavailable
from toolcrib.store.columns import BLOB_MARK

_PASSING = (psycopg.OperationalError, psycopg.InterfaceError, psycopg.errors.ReadOnlySqlTransaction)
_ABSENT = (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)
_LIKE = re.compile(r"\bLIKE\b")


class BlobDumper(Dumper):
    """Text with lone surrogates or null characters, which `columns` passes as bytes."""

    oid = psycopg.adapters.types["text"].oid

    def dump(self, obj: Any) -> bytes:
        return f"{BLOB_MARK}{obj.hex()}".encode()


class PostgresConnection:
    """Translates statements, values and errors; `name` is shown in errors."""

    def __init__(self, raw: psycopg.Connection[Any], name: str) -> None:
        raw.adapters.register_dumper(bytes, BlobDumper)
        self.raw = raw
        self._name = name

    @property
    def in_transaction(self) -> bool:
        return self.raw.info.transaction_status not in _ABSENT

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> psycopg.Cursor[Any]:
        cursor = self.raw.cursor()
        try:
            try:
                return cursor.execute(translated(statement), values)
            except psycopg.DataError as error:
                if error.sqlstate is not None:  # the server's own
                    raise
                return cursor.execute(translated(statement), _without_nulls(values))
        except psycopg.Error as error:
            raise as_failure(error, self._name) from error

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> psycopg.Cursor[Any]:
        cursor = self.raw.cursor()
        try:
            cursor.executemany(translated(statement), [_without_nulls(row) for row in rows])
        except psycopg.Error as error:
            raise as_failure(error, self._name) from error
        return cursor


@cache
def translated(statement: str) -> bytes:
    """The statement for psycopg. `LIKE` ignores case in SQLite."""
    if statement == "BEGIN IMMEDIATE":
        return b"BEGIN"
    return _LIKE.sub("ILIKE", statement.replace("%", "%%").replace("?", "%s")).encode()


def as_failure(error: psycopg.Error, name: str) -> DatabaseError:
    """The error to raise instead; it says whether a retry may succeed."""
    reason = " ".join(str(error).split("\n")[0].split()) or type(error).__name__
    if isinstance(error, _PASSING):
        return DatabaseUnavailable(
            f"The database {name} cannot be used at the moment: {reason}",
            hint="Check that PostgreSQL is running and reachable; the host reconnects by itself.",
        )
    return DatabaseRefused(f"The database {name} refused this: {reason}", hint="See: toolcrib doctor")


def _without_nulls(values: Sequence[Any]) -> list[Any]:
    return [_without_null(value) for value in values]


def _without_null(value: Any) -> Any:
    if isinstance(value, list):
        return _without_nulls(value)
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value

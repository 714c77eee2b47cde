"""One connection to a PostgreSQL server, opened again when it is lost: timeouts for connecting, locks and
statements, keepalives, and the hint about TLS certificates.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo

from toolcrib.config.database_url import parameters_of, secured, split_secrets, without_secrets
from toolcrib.errors import DatabaseError, DatabaseUnavailable, DatabaseUnreachable
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.postgres.connection import PostgresConnection, as_failure
from toolcrib.store.postgres.migrations import migrate

T = TypeVar("T")

RETRY_AFTER = 1.0
"""Seconds until the next attempt to connect: many who wait for an absent server fail together."""
DEFAULTS = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
    "application_name": "toolcrib",
}
"""Connection parameters, unless the URL sets them: a connection whose other end is gone is noticed soon."""
TLS_HINT = (
    "A database on another machine needs TLS with a certificate that can be verified. Name its authority "
    "in the URL with sslrootcert=FILE, or allow less by naming it, such as sslmode=require."
)
_CERTIFICATES = re.compile(r"\bSSL\b|certificate", re.IGNORECASE)
_LIMITS = (
    "SET lock_timeout = '1s'",
    "SET statement_timeout = '60s'",
    "SET idle_in_transaction_session_timeout = '60s'",
)


class PostgresServer:
    """The database of a `postgresql://` URL."""

    shared = True
    path: Path | None = None
    incident: str | None = None

    def __init__(self, url: str) -> None:
        self.name = without_secrets(url)
        self._url = url
        self._failed: tuple[float, DatabaseUnavailable] | None = None
        try:
            self._connection: PostgresConnection | None = self._connect()
        except DatabaseError as error:
            raise DatabaseUnreachable(
                error.message,
                hint="Check the URL and that PostgreSQL is running. To use the SQLite file again: "
                "toolcrib settings unset database",
            ) from error

    def do(self, work: Callable[[DatabaseConnection], T], busy_seconds: float) -> T:
        connection = self._usable()
        try:
            return work(connection)
        finally:
            if connection.in_transaction:
                with contextlib.suppress(DatabaseError):
                    connection.execute("ROLLBACK")

    def interrupt(self) -> None:
        """Cut the connection: a stopped server answers neither a cancellation nor anything else."""
        connection = self._connection
        with contextlib.suppress(OSError, psycopg.Error):
            if connection is not None:
                with socket.socket(fileno=os.dup(connection.raw.fileno())) as copy:
                    copy.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.raw.close()

    def _usable(self) -> PostgresConnection:
        """The connection, or a new one: nothing is sent on one that the server has closed."""
        if self._connection is None or _is_closed(self._connection.raw):
            self.close()
            self._connection = None
            self._connection = self._reconnect()
        return self._connection

    def _reconnect(self) -> PostgresConnection:
        if self._failed is not None and time.monotonic() < self._failed[0] + RETRY_AFTER:
            raise self._failed[1]
        try:
            connection = self._connect()
        except DatabaseUnavailable as error:
            self._failed = time.monotonic(), error
            raise
        self._failed = None
        return connection

    def _connect(self) -> PostgresConnection:
        connection = connect(self._url)
        try:
            migrate(connection, self._url)
            for limit in _LIMITS:
                connection.execute(limit)
        except BaseException:
            connection.raw.close()
            raise
        return connection


def connect(url: str) -> PostgresConnection:
    """A connection in autocommit mode; raises `DatabaseError`."""
    name, hidden = split_secrets(url)
    try:
        return PostgresConnection(psycopg.connect(with_defaults(url), autocommit=True), name)
    except psycopg.Error as error:
        failure = as_failure(error, name)
        if any(secret in str(error) for secret in hidden.values()):
            failure = DatabaseUnavailable(f"The database {name} cannot be used.", hint=failure.hint)
            raise failure from None
        if _CERTIFICATES.search(failure.message):
            raise DatabaseUnavailable(failure.message, hint=TLS_HINT) from error
        raise failure from error


def with_defaults(url: str) -> str:
    """The connection string with our deadlines, and with TLS to another machine."""
    return make_conninfo(**{**DEFAULTS, **secured(parameters_of(url))})


def _is_closed(raw: psycopg.Connection[Any]) -> bool:
    """Whether the server has ended the connection meanwhile, as a restart does.

    On an idle connection nothing else is sent but news of changed server settings.
    """
    if raw.closed:
        return True
    readable = select.poll()
    readable.register(raw.fileno(), select.POLLIN)
    return bool(readable.poll(0))

"""Open connections to the database: those that a silent server blocks can be cut.

A stopped server, or one behind a broken network, answers neither a statement nor its cancellation. A thread
that waits for it goes on only if the socket is shut down.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

LOOK = 0.01
LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Of libpq, in seconds, the last in milliseconds: when it notices that a server cannot be reached."""


class Connections:
    """Knows the connections of an engine that are open."""

    def __init__(self, engine: sa.Engine) -> None:
        self._pool = engine.pool
        self._open: weakref.WeakSet[Any] = weakref.WeakSet()
        self._closed = False
        event.listen(engine, "connect", self._opened)
        event.listen(engine, "do_connect", self._refuse)

    async def unused(self, seconds: float) -> None:
        """Wait until no thread uses a connection, but no longer than this."""
        until = time.monotonic() + seconds
        while isinstance(self._pool, sa.QueuePool) and self._pool.checkedout():
            if time.monotonic() >= until:
                return
            await asyncio.sleep(LOOK)

    def cut_all(self) -> None:
        for connection in list(self._open):
            cut(connection)

    def close(self) -> None:
        """Cut all for good: threads that try again and again, as those of DBOS do, end."""
        self._closed = True
        self.cut_all()

    def _opened(self, connection: Any, record: object) -> None:
        if hasattr(connection, "pgconn"):
            self._open.add(connection)

    def _refuse(self, *_: object) -> None:
        if self._closed:
            raise ConnectionAbortedError("The workflow database is closed.")


class Abandoned(Exception):
    """No caller waits for this transaction any more; it is rolled back."""


class Attempt:
    """The connection of one transaction in a thread, which can be abandoned from the outside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._abandoned = False

    @contextmanager
    def transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        with engine.connect() as connection, self._using(connection), connection.begin():
            yield connection
            self._check()

    def abandon(self) -> None:
        """Commit nothing from now on, and wait for the server no longer."""
        with self._lock:
            self._abandoned = True
            cut(self._connection)

    @contextmanager
    def _using(self, connection: sa.Connection) -> Iterator[None]:
        """After the block another transaction may use the connection, and it is not cut any more."""
        with self._lock:
            self._check()
            self._connection = connection.connection.dbapi_connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None

    def _check(self) -> None:
        if self._abandoned:
            raise Abandoned


def cut(connection: Any) -> None:
    """End the conversation with a server; a connection to a file is left alone."""
    if not hasattr(connection, "pgconn"):
        return
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(connection.fileno())) as copy:
        copy.shutdown(socket.SHUT_RDWR)

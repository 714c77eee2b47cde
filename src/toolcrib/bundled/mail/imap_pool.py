"""Open IMAP connections of an account, shared by calls; blocking, for worker threads."""

from __future__ import annotations

import contextlib
import imaplib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from toolcrib.accounts.mail_servers import MailServers
from toolcrib.errors import ConnectionLost, ServerUnavailable
from toolcrib.serverkit.context import ToolFailure

if TYPE_CHECKING:
    from toolcrib.accounts.imap import ImapConnection

R = TypeVar("R")
MAX_CONNECTIONS = 4
"""At once; some providers allow no more than five for all programs of a user."""
WAIT = 60.0
FRESH = 20.0
"""Seconds after which an idle connection is tested before use."""
MAX_IDLE = 240.0


class ImapPool:
    def __init__(self, servers: MailServers, password: str, account: str) -> None:
        self._servers = servers
        self._password = password
        self._account = account
        self._slots = threading.Semaphore(MAX_CONNECTIONS)
        self._lock = threading.Lock()
        self._idle: list[tuple[float, ImapConnection]] = []
        self._closed = False

    def read(self, work: Callable[[ImapConnection], R]) -> R:
        """Do work that may be repeated: once more on a new connection if the first one was lost."""
        try:
            return self._do(work, FRESH)
        except ConnectionLost:
            self._drop_idle()
            return self._do(work, FRESH)

    def change(self, work: Callable[[ImapConnection], R]) -> R:
        """Do work once; raises `ConnectionLost` if the connection ends meanwhile."""
        return self._do(work, 0.0)

    def _do(self, work: Callable[[ImapConnection], R], fresh: float) -> R:
        with self._connection(fresh) as connection:
            return work(connection)

    def close(self) -> None:
        """End all idle connections; those in use end when they are returned."""
        self._closed = True
        self._drop_idle()

    @contextmanager
    def _connection(self, fresh: float) -> Iterator[ImapConnection]:
        from toolcrib.accounts.imap import close_quietly, connect_imap, translated

        if not self._slots.acquire(timeout=WAIT):
            raise ToolFailure("All connections to the mailbox are busy.", "Try again in a minute.")
        try:
            connection = self._take(fresh) or connect_imap(
                self._servers, self._password, account=self._account
            )
            try:
                with translated(self._servers.imap):
                    yield connection
            except ServerUnavailable:
                close_quietly(connection)
                raise
            except BaseException as error:
                # After a refusal the connection is fine; after anything unknown it may be in mid-response.
                if isinstance(error.__cause__, imaplib.IMAP4.error) or isinstance(error, ToolFailure):
                    self._give_back(connection)
                else:
                    close_quietly(connection)
                raise
            self._give_back(connection)
        finally:
            self._slots.release()

    def _take(self, fresh: float) -> ImapConnection | None:
        from toolcrib.accounts.imap import close_quietly

        while True:
            with self._lock:
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            age = time.monotonic() - since
            if age < fresh or (age < MAX_IDLE and _is_alive(connection)):
                return connection
            close_quietly(connection)

    def _give_back(self, connection: ImapConnection) -> None:
        from toolcrib.accounts.imap import close_quietly

        with self._lock:
            if not self._closed:
                self._idle.append((time.monotonic(), connection))
                return
        close_quietly(connection)

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            with contextlib.suppress(Exception):
                connection.shutdown()


def _is_alive(connection: ImapConnection) -> bool:
    try:
        connection.noop()
    except (OSError, imaplib.IMAP4.error):
        return False
    return True

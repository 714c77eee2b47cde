"""Runs the work on a database in a single thread; callers submit work and need not wait. Decides how long to
wait for a locked, slow or silent database, and how many writes are kept and retried while the disk is full.

Background writes that are not possible at the moment (a lock, a full disk, a lost connection) wait in a
bounded queue and are retried in order; further ones are lost and counted. Work that somebody waits for is
tried again and again while another process locks the database, so that it does not keep others from reading,
and fails within a deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from toolcrib.config.database_key import Signer
from toolcrib.errors import DatabaseUnavailable
from toolcrib.schema.system_failures import database_failure
from toolcrib.store.connection import DatabaseConnection
from toolcrib.store.decisions import Decisions

T = TypeVar("T")

logger = logging.getLogger(__name__)

BUSY_SECONDS = 15.0
"""How long to wait for another process that is writing."""
BEHIND_BUSY_SECONDS = 1.0
"""The same for the first attempt of a background write, which keeps the thread from others."""
BRIEF_SECONDS = 0.05
"""The same for every other attempt, and the pause until the next one."""
LOCK_KNOWN_SECONDS = 0.5
"""For how long after an attempt that found a lock the next ones do not wait for it."""
ANSWER_SECONDS = 30.0
"""How long to wait for an answer, whatever the reason."""
SLOW_SECONDS = 5.0
"""A database that has worked on something for longer counts as stalled."""
GIVE_UP_SECONDS = 75.0
"""A connection that has worked on something for longer is cut: the server gives up a statement after 60 s."""
RETRY_AFTER = 1.0
MAX_KEPT = 10_000
_LOCKS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PASSING = (*_LOCKS, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
_LOCK_NOT_AVAILABLE = "55P03"
"""PostgreSQL's code of a lock that was not granted in time."""


class DatabaseEngine(Protocol):
    """One connection to a database. Methods run in the database's thread, except `interrupt`."""

    name: str
    """The file, or the URL without its password."""
    path: Path | None
    """The file, if it is one."""
    shared: bool
    """Hosts on other machines may use the same database."""
    incident: str | None
    """What happened to the file while it was open."""

    def do(self, work: Callable[[DatabaseConnection], T], busy_seconds: float) -> T:
        """Run work on a working connection, which is opened again if necessary."""

    def interrupt(self) -> None:
        """Make the current work fail; called from another thread."""

    def close(self) -> None: ...


class AsyncDatabase:
    """Created by `open_database`. Private methods run in its thread, unless they say otherwise."""

    def __init__(
        self, engine: DatabaseEngine, thread: ThreadPoolExecutor, signer: Signer | None = None
    ) -> None:
        self.decisions = Decisions(signer, shared=engine.shared)
        self.name = engine.name
        self.path = engine.path
        self.shared = engine.shared
        self._engine = engine
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        self._kept: deque[tuple[Callable[[DatabaseConnection], Any], Future[Any]]] = deque()
        self._blocked: Exception | None = None
        """Why the first kept write failed."""
        self._began: float | None = None
        """When the current work began."""
        self._lock_seen = float("-inf")
        self._dropped = self._refused = 0

    @property
    def incident(self) -> str | None:
        return self._engine.incident

    @property
    def trouble(self) -> str | None:
        """Why writes are waiting now."""
        if self._blocked is not None:
            return str(self._blocked)
        seconds = self._working_for()
        return None if seconds < SLOW_SECONDS else f"no answer for {seconds:.0f} s"

    @property
    def waiting(self) -> int:
        """Background writes that were not possible yet."""
        return len(self._kept) if self.trouble is not None else 0

    @property
    def lost(self) -> int:
        """Background writes that were given up."""
        return self._dropped + self._refused

    async def run(self, work: Callable[[DatabaseConnection], T], *, in_order: bool = False) -> T:
        """Run work on the connection and return its result; raises `DatabaseUnavailable` within a deadline.

        It follows everything submitted before, but not background writes that wait; with `in_order`, those
        too. It is repeated while another process locks the database, so it must undo what it did on an error.
        """
        until = self._loop.time() + BUSY_SECONDS
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while True:
                    try:
                        return await asyncio.wrap_future(self._thread.submit(self._attempt, work, in_order))
                    except (sqlite3.OperationalError, DatabaseUnavailable) as error:
                        if not is_lock(error) or self._loop.time() > until:
                            raise self._as_failure(error) from error
                    await asyncio.sleep(BRIEF_SECONDS)
        except TimeoutError:
            if self._working_for() > GIVE_UP_SECONDS:
                self._engine.interrupt()
            raise self._no_answer() from None

    def submit(
        self, work: Callable[[DatabaseConnection], T], *, busy_seconds: float = BUSY_SECONDS
    ) -> Future[T]:
        """Submit work without waiting; it waits up to `busy_seconds` for another process that is writing."""
        return self._thread.submit(self._do, work, busy_seconds)

    def keep(self, work: Callable[[DatabaseConnection], T], what: str = "") -> Future[T]:
        """Write in the background, in order; what may pass is retried, so the work must be repeatable.

        A failure is logged if it is said what is written.
        """
        written: Future[T] = Future()
        if what:
            written.add_done_callback(partial(_log_failure, what))
        if len(self._kept) >= MAX_KEPT:
            self._dropped += 1
            written.set_exception(_given_up(f"{MAX_KEPT} writes are waiting already"))
            return written
        self._kept.append((work, written))
        with contextlib.suppress(RuntimeError):  # closed: its owner has reported it
            self._thread.submit(self._write_new)
        return written

    def close_in_thread(self) -> Future[None]:
        """Write what was submitted before, then close."""
        return self._thread.submit(self._close)

    def interrupt(self) -> None:
        """Make the current work fail, so that the thread can end; called on the loop."""
        self._engine.interrupt()

    def _working_for(self) -> float:
        """On the loop: for how long the current work has run."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    def _as_failure(self, error: Exception) -> Exception:
        """The error to raise: a lock or a full disk is no fault of the caller."""
        if isinstance(error, DatabaseUnavailable) or not may_pass(error):
            return error
        if is_lock(error):
            return DatabaseUnavailable(
                f"The database {self.name} is locked by another process.",
                hint="Try again when that process has finished. It may be a backup or another program.",
            )
        known = database_failure(error, self.path) if isinstance(error, sqlite3.Error) else None
        if known is not None:
            return DatabaseUnavailable(known[0], hint=known[1])
        return DatabaseUnavailable(
            f"The database {self.name} cannot be used at the moment: {error}.", hint="See: toolcrib doctor"
        )

    def _no_answer(self) -> DatabaseUnavailable:
        hint = "Check that PostgreSQL is running and reachable." if self.shared else "Check the disk."
        return DatabaseUnavailable(
            f"The database {self.name} did not answer within {ANSWER_SECONDS:.0f} s.", hint=hint
        )

    def _do(self, work: Callable[[DatabaseConnection], T], busy_seconds: float) -> T:
        self._began = time.monotonic()
        try:
            return self._engine.do(work, busy_seconds)
        finally:
            self._began = None

    def _attempt(self, work: Callable[[DatabaseConnection], T], in_order: bool) -> T:
        if in_order and self._kept:
            self._write_kept()
            if self._blocked is not None:
                raise self._blocked
        # Many who wait for the same lock must not wait for one another as well.
        known = time.monotonic() - self._lock_seen < LOCK_KNOWN_SECONDS
        try:
            return self._do(work, 0.0 if known else BRIEF_SECONDS)
        except Exception as error:
            if is_lock(error):
                self._lock_seen = time.monotonic()
            raise

    def _write_new(self) -> None:
        if self._blocked is None:  # else the next retry writes it
            self._write_kept()

    def _write_kept(self) -> None:
        while self._kept:
            work, written = self._kept[0]
            try:
                result = self._do(work, BEHIND_BUSY_SECONDS if self._blocked is None else BRIEF_SECONDS)
            except Exception as error:  # noqa: BLE001 - passed to the submitter
                if may_pass(error):
                    self._try_again_later(error)
                    return
                self._refused += 1
                written.set_exception(error)
            else:
                written.set_result(result)
            self._kept.popleft()
        self._blocked = None

    def _try_again_later(self, error: Exception) -> None:
        known, self._blocked = self._blocked, error
        if known is not None:
            return  # the retries continue
        logger.error("The database cannot be written at the moment: %s", error)
        self._schedule_retry()

    def _schedule_retry(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop or the thread is closed
            self._loop.call_soon_threadsafe(self._loop.call_later, RETRY_AFTER, self._submit_retry)

    def _submit_retry(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._thread.submit(self._retry)

    def _retry(self) -> None:
        self._write_kept()
        if self._blocked is not None:
            self._schedule_retry()

    def _close(self) -> None:
        self._write_kept()
        for _, written in self._kept:
            self._refused += 1
            written.set_exception(_given_up(self.trouble or "the database was closed"))
        self._engine.close()


def may_pass(error: BaseException) -> bool:
    """Whether a retry may succeed: a lock, a full disk, an unreachable file or server."""
    if isinstance(error, DatabaseUnavailable):
        return True
    if not isinstance(error, sqlite3.OperationalError):
        return False
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _PASSING


def is_lock(error: BaseException) -> bool:
    """Whether another process locks the file or the table."""
    if getattr(error.__cause__, "sqlstate", None) == _LOCK_NOT_AVAILABLE:
        return True
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _LOCKS


def _log_failure(what: str, written: Future[Any]) -> None:
    error = written.exception()
    if error is not None:
        logger.error("%s cannot be written: %s", what, error)


def _given_up(reason: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(f"Nothing was written: {reason}.", hint="See: toolcrib doctor")


async def read_current(
    database: AsyncDatabase, read: Callable[[DatabaseConnection], T], changes: Callable[[], int]
) -> T:
    """What the table holds, local changes included; `changes` counts those that were submitted so far."""
    while True:
        before = changes()
        # After the writes that wait; shielded, because a queued read cannot be taken back.
        found = await asyncio.shield(asyncio.wrap_future(database.keep(read)))
        if changes() == before:
            return found

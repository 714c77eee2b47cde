"""Notices changes that other hosts made in the shared database: by notifications, and by checks every few
seconds.

Every watched table has a revision number, which is read when a notification arrives and every few seconds, so
that a lost notification only delays a change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import psycopg

from toolcrib.errors import DatabaseError
from toolcrib.store.postgres.migrations import schema_of
from toolcrib.store.postgres.server import with_defaults

logger = logging.getLogger(__name__)

POLL = 2.0
"""Seconds between two looks without a notification."""
RETRY_AFTER = 1.0
LOOK_SECONDS = 30.0

Apply = Callable[[], Awaitable[object]]


class ChangeWatch:
    """Calls the function of each subject whose table changed; all of them once at the start."""

    def __init__(self, url: str, subjects: Mapping[str, Apply], *, poll: float = POLL) -> None:
        self._url = url
        self._schema = schema_of(url)
        self._subjects = subjects
        self._poll = poll
        self._seen: dict[str, int] = {}
        self._connected = True

    async def run(self) -> None:
        """Watch until cancelled; a lost connection is opened again."""
        while True:
            try:
                await self._connect_and_follow()
            except (psycopg.Error, OSError) as error:
                self._lost(error)
            await asyncio.sleep(RETRY_AFTER)

    async def _connect_and_follow(self) -> None:
        connecting = psycopg.AsyncConnection.connect(with_defaults(self._url), autocommit=True)
        async with await connecting as connection:
            await self._follow(connection)

    def _lost(self, error: Exception) -> None:
        if self._connected:
            logger.warning("changes of other hosts cannot be followed", extra={"reason": str(error)})
        self._connected = False

    async def _follow(self, connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute(f'SET search_path TO "{self._schema}"'.encode())
        await connection.execute(f'LISTEN "toolcrib {self._schema}"'.encode())
        self._connected = True
        while True:
            await self._look(connection)
            async for _ in connection.notifies(timeout=self._poll, stop_after=1):
                pass

    async def _look(self, connection: psycopg.AsyncConnection[Any]) -> None:
        async with asyncio.timeout(LOOK_SECONDS):  # a stopped server keeps the connection open
            rows = await (await connection.execute("SELECT subject, number FROM revisions")).fetchall()
        current = {**dict.fromkeys(self._subjects, 0), **dict(rows)}
        for subject, apply in self._subjects.items():
            if self._seen.get(subject) == current[subject]:
                continue
            try:
                await apply()
            except DatabaseError as error:  # tried again with the next look
                logger.warning(
                    "a change is not applied yet", extra={"subject": subject, "reason": str(error)}
                )
            else:
                self._seen[subject] = current[subject]

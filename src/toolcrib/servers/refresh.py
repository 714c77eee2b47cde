"""Fetches a server's tool list again when it changed; a storm of notices costs one fetch a second."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.servers.sessions.session import Session

DEBOUNCE = 0.05
PAUSE = 1.0
TIMEOUT = 30.0


class ListRefresher:
    """Remembers that a refresh was asked for; a call that waits for one makes it happen at once."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._hurry = asyncio.Event()
        self._done = asyncio.Event()
        self._fetching = False
        self.due = False
        """The list changed, and the new one is not here yet."""

    def ask(self) -> None:
        """The list changed."""
        self.due = True
        self._asked.set()

    async def refreshed(self, session: Session) -> None:
        """Wait for a list that is newer than the last change; a failed fetch or a lost connection ends it."""
        outdated = self._fetching and self._asked.is_set()
        await self._next(session)
        if outdated:  # the fetch that was under way had begun before the change
            await self._next(session)

    async def _next(self, session: Session) -> None:
        self._hurry.set()
        done = asyncio.ensure_future(self._done.wait())
        waits: set[asyncio.Future[Any]] = {done, session.lost}
        try:
            await asyncio.wait(waits, timeout=2 * TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        finally:
            done.cancel()

    async def run(
        self, session: Session, offer: Callable[[list[Any]], None], rate: Callable[[str | None], None]
    ) -> ToolcribError:
        """Refresh whenever asked; the last good list stays when a fetch fails. Ends only by cancellation."""
        failed = False
        while True:
            await self._asked.wait()
            await self._pause(DEBOUNCE)
            self._asked.clear()
            self._fetching = True
            try:
                definitions = await session.list_tools(timeout=TIMEOUT)
            except ToolcribError as error:
                failed = True
                if not session.lost.done():  # that the connection is gone is heard of elsewhere
                    rate(f"The tool list could not be refreshed: {error}")
            else:
                offer(definitions)
                if failed:
                    rate(None)
                failed = False
            self._finish()
            await self._pause(PAUSE)

    def _finish(self) -> None:
        """The list is here; those who waited for it go on, unless it changed again meanwhile."""
        self._fetching = False
        self.due = self._asked.is_set()
        self._hurry.clear()
        done, self._done = self._done, asyncio.Event()
        done.set()

    async def _pause(self, seconds: float) -> None:
        """Wait, but not while a call waits for the list."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()

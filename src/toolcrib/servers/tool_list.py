"""A server's current tool list, refetched on change at most once a second: pauses, timeout, and the error if
it cannot be refreshed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.servers.sessions.session import Session

DEBOUNCE = 0.05
PAUSE = 1.0
TIMEOUT = 30.0


class ListRefresher:
    """Refetches a changed list; a waiting call makes it happen at once."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._hurry = asyncio.Event()
        self._done = asyncio.Event()
        self._fetching = False
        self.due = False
        """The list changed and was not fetched yet."""

    def ask(self) -> None:
        self.due = True
        self._asked.set()

    async def refreshed(self, session: Session) -> None:
        """Wait for a list newer than the last change; also ends with a failed fetch or a lost connection."""
        outdated = self._fetching and self._asked.is_set()
        await self._next(session)
        if outdated:  # the running fetch started before the change
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
        self,
        session: Session,
        offer: Callable[[list[Any]], Awaitable[None]],
        report: Callable[[str | None], None],
    ) -> ToolcribError:
        """Refetch on change until cancelled; if a fetch fails, the last list stays."""
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
                if not session.lost.done():  # a lost connection is reported elsewhere
                    report(f"The tool list could not be refreshed: {error}")
            else:
                await offer(definitions)
                if failed:
                    report(None)
                failed = False
            self._finish()
            await self._pause(PAUSE)

    def _finish(self) -> None:
        """Wake waiting calls; still due if the list changed again meanwhile."""
        self._fetching = False
        self.due = self._asked.is_set()
        self._hurry.clear()
        done, self._done = self._done, asyncio.Event()
        done.set()

    async def _pause(self, seconds: float) -> None:
        """Sleep, unless a call waits for the list."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()


DefinitionCheck = Callable[[Any], None]
"""Called with the tool's current definition; raises if the call must not be made."""


class ToolList:
    """The current tool definitions of one connection, by name."""

    def __init__(self) -> None:
        self.refresher = ListRefresher()
        self.replaced = False
        """Whether the list changed since the connection was opened."""
        self._named: dict[str, Any] = {}

    def take(self, definitions: list[Any]) -> None:
        """Replace the list; as in the registry, the first of two tools with the same name counts."""
        self.replaced = bool(self._named)
        self._named = {}
        for tool in definitions:
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str):
                self._named.setdefault(name, tool)

    def check(self, tool: str, check: DefinitionCheck | None) -> None:
        if check is not None:
            check(self._named.get(tool))

    async def refreshed(self, session: Session, tool: str, check: DefinitionCheck) -> None:
        """Wait for the announced list, then check the tool."""
        await self.refresher.refreshed(session)
        if not session.lost.done():
            self.check(tool, check)

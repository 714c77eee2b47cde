"""Brings what a server logs to the clients that have a call under way there and want to hear it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.events import Bus
from toolcrib.gateway.bridge import RelayedCall
from toolcrib.schema.events import Event
from toolcrib.serverkit.context import LOG_LEVELS
from toolcrib.serverkit.protocol import notification
from toolcrib.servers.sessions.session import Session

PATIENCE = 2.0
_SEVERITY: dict[str, int] = {level: number for number, level in enumerate(LOG_LEVELS)}
_INFO = _SEVERITY["info"]


class Logs:
    """Who hears which server now."""

    def __init__(self, events: Bus[Event]) -> None:
        self.events = events
        self._calls: dict[str, set[RelayedCall]] = {}
        """By server."""
        self._asked: int | None = None
        """How much servers of the legacy era were asked to tell; what a client does not want stays here."""
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, server: str | None, call: RelayedCall) -> set[RelayedCall]:
        """From now on the client of the call hears the server, until the call is taken out of these."""
        if server is None:
            return set()
        calls = self._calls.get(server)
        if calls is None:
            calls = self._calls[server] = set()
        calls.add(call)
        return calls

    async def last_words(self, call: RelayedCall) -> None:
        """What a server says right before its answer comes by another way, which is a step longer."""
        if self.events.behind and call.log_level is not None:
            await asyncio.sleep(0)

    def tell(self, server: str, params: dict[str, Any]) -> None:
        """The server said something."""
        level = params.get("level")
        severity = _SEVERITY.get(level) if isinstance(level, str) else None
        if severity is None:
            return  # no client could read it
        for call in tuple(self._calls.get(server, ())):
            wanted = call.log_level
            if wanted is not None and severity >= _SEVERITY[wanted]:
                call.wire.tell(notification("notifications/message", params))

    async def want(self, level: str, sessions: Iterable[Session]) -> None:
        """A client wants to hear this much; servers are asked for more when they were asked for less."""
        wanted = min(_SEVERITY[level], _INFO)
        if self._asked is not None and self._asked <= wanted:
            return
        self._asked = wanted
        await asyncio.gather(*(self._ask(session) for session in sessions))

    def opened(self, session: Session) -> None:
        """A server has started (again)."""
        if self._asked is not None and session.offers("logging"):
            task = asyncio.create_task(self._ask(session))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Ask nobody any more."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, session: Session) -> None:
        if session.agreement.era == "modern" or self._asked is None:
            return  # there, each request says it
        with contextlib.suppress(ToolcribError):
            level = LOG_LEVELS[self._asked]
            await session.request("logging/setLevel", {"level": level}, timeout=PATIENCE)

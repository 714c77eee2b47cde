"""Sends log messages of a server to the clients that have a call running there."""

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
    """The running calls by server, and the log level that servers were asked for."""

    def __init__(self, events: Bus[Event]) -> None:
        self.events = events
        self._calls: dict[str, set[RelayedCall]] = {}
        self._asked: int | None = None
        """The level that servers of the legacy era were set to; each client gets what it wants of that."""
        self._tasks: set[asyncio.Task[None]] = set()

    def join(self, server: str | None, call: RelayedCall) -> set[RelayedCall]:
        """Send the server's messages to the client of the call, until the call is removed from the returned
        set."""
        if server is None:
            return set()
        calls = self._calls.get(server)
        if calls is None:
            calls = self._calls[server] = set()
        calls.add(call)
        return calls

    async def catch_up(self, call: RelayedCall) -> None:
        """Wait for messages sent right before the result: they come as events, one loop iteration later."""
        if self.events.behind and call.log_level is not None:
            await asyncio.sleep(0)

    def forward(self, server: str, params: dict[str, Any]) -> None:
        level = params.get("level")
        severity = _SEVERITY.get(level) if isinstance(level, str) else None
        if severity is None:
            return  # invalid
        for call in tuple(self._calls.get(server, ())):
            wanted = call.log_level
            if wanted is not None and severity >= _SEVERITY[wanted]:
                call.wire.notify(notification("notifications/message", params))

    async def set_level(self, level: str, sessions: Iterable[Session]) -> None:
        """A client wants messages from this level on; servers are set to it if they are set to a higher
        one."""
        wanted = min(_SEVERITY[level], _INFO)
        if self._asked is not None and self._asked <= wanted:
            return
        self._asked = wanted
        await asyncio.gather(*(self._ask(session) for session in sessions))

    def opened(self, session: Session) -> None:
        """A server has started."""
        if self._asked is not None and session.offers("logging"):
            task = asyncio.create_task(self._ask(session))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel requests to servers."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(self, session: Session) -> None:
        if session.agreement.era == "modern" or self._asked is None:
            return  # in the modern era, each request sets it
        with contextlib.suppress(ToolcribError):
            level = LOG_LEVELS[self._asked]
            await session.request("logging/setLevel", {"level": level}, timeout=PATIENCE)

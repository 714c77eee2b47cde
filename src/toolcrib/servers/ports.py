"""Interfaces between a supervisor and the rest of the host: opening sessions, events of a server, cached tool
lists.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.schema.servers import CachedTools, ServerStatus
from toolcrib.servers.processes.log_lines import write_event
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.peer import OnNotice
from toolcrib.servers.sessions.session import Session
from toolcrib.servers.starts import StartSlots


class OpenSession(Protocol):
    """Opens a server's session; made by `Connector.opener`."""

    def __call__(
        self,
        *,
        era: Era | None,
        on_notice: OnNotice,
        on_junk: Callable[[int], None],
        on_flood: Callable[[bool], None],
        on_spawn: Callable[[int], None],
    ) -> AbstractAsyncContextManager[Session]:
        """A session while the block runs."""


class ServerListener(Protocol):
    """Receives the events of a server."""

    def changed(self, status: ServerStatus) -> None:
        """The status changed."""

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """A tool list arrived (stale: from an earlier run); returns the number of valid tools.

        The end of a very long list is registered later.
        """

    async def list_gradually(self, server: str, definitions: list[Any]) -> int:
        """Like `listed`, but waits until the whole list is registered; other tasks run in between."""

    def staled(self, server: str) -> None:
        """The tools are still offered, but the server is down."""

    def withdrawn(self, server: str) -> None:
        """The tools are no longer offered."""

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """The server sent a notification."""


class ToolCache(Protocol):
    """Stores tool lists between runs."""

    def load(self, server: str, fingerprint: str) -> CachedTools | None:
        """The last list of a server, if its entry is unchanged."""

    def last(self, server: str) -> CachedTools | None:
        """The last list of a server, even if its entry changed."""

    def save(self, tools: CachedTools) -> None: ...

    def forget(self, server: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class SupervisorContext:
    """Settings and services shared by all supervisors of a host."""

    clock: Clock
    slots: StartSlots
    listener: ServerListener
    call_wait: float = 5.0
    """Seconds a call waits for a restarting server."""
    liveness_interval: float = 30.0
    log_path: Callable[[str], Path] = lambda server: Path(os.devnull)
    """The log of a server, which explains a start that takes too long."""

    def tell(self, server: str, text: str) -> None:
        """Write into its log what happened to a server."""
        write_event(self.log_path(server), text)


class _NullListener:
    """Ignores every event."""

    def changed(self, status: ServerStatus) -> None: ...

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        return len(definitions)

    async def list_gradually(self, server: str, definitions: list[Any]) -> int:
        return self.listed(server, definitions, stale=False)

    def staled(self, server: str) -> None: ...

    def withdrawn(self, server: str) -> None: ...

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None: ...


class _NoticeListener(_NullListener):
    """Passes on notifications only."""

    def __init__(self, listener: ServerListener) -> None:
        self._listener = listener

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        if not method.endswith("/list_changed"):  # the first connection reports changes too
            self._listener.noticed(server, method, params)


def notices_only(context: SupervisorContext) -> SupervisorContext:
    """For a second connection to a server, whose state and tools the first one reports."""
    return replace(context, listener=_NoticeListener(context.listener))


def without_listener(context: SupervisorContext) -> SupervisorContext:
    """For an instance used by one session only: its tools are those of the shared instance."""
    return replace(context, listener=_NullListener())

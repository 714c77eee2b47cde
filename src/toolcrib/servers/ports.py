"""What a supervisor needs from its surroundings, and whom it tells."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.schema.servers import CachedTools, ServerStatus
from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import OnNotice, Session
from toolcrib.servers.starts import StartSlots


class OpenSession(Protocol):
    """Opens a server's session; built by the pool, which knows transports and settings."""

    def __call__(
        self,
        *,
        era: Era | None,
        on_notice: OnNotice,
        on_junk: Callable[[int], None],
        on_spawn: Callable[[int], None],
    ) -> AbstractAsyncContextManager[Session]:
        """A session for as long as the block lasts."""


class Audience(Protocol):
    """Receives what happens to a server."""

    def changed(self, status: ServerStatus) -> None:
        """The state is another one."""

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """A tool list arrived (stale: from an earlier run); returns how many of its tools are good."""

    def staled(self, server: str) -> None:
        """The tools are still offered, but the server is away."""

    def withdrawn(self, server: str) -> None:
        """The tools are no longer to be had."""

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """The server sent a notification."""


class ToolCache(Protocol):
    """Where tool lists are kept from one run to the next."""

    def load(self, server: str, fingerprint: str) -> CachedTools | None:
        """The last list of a server, if its entry is still the same."""

    def last(self, server: str) -> CachedTools | None:
        """The last list of a server, under whatever entry it was listed."""

    def save(self, tools: CachedTools) -> None:
        """Keep a fresh list."""

    def forget(self, server: str) -> None:
        """Drop what is kept of a server."""


@dataclass(frozen=True, kw_only=True)
class SupervisorContext:
    """What every supervisor of a host works with."""

    clock: Clock
    slots: StartSlots
    listener: Audience
    call_wait: float = 5.0
    """Seconds a call waits for a server that is restarting."""
    liveness_interval: float = 30.0


class _Nobody:
    """An audience that does not care."""

    def changed(self, status: ServerStatus) -> None:
        """Nobody asked."""

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """Nobody asked."""
        return len(definitions)

    def staled(self, server: str) -> None:
        """Nobody asked."""

    def withdrawn(self, server: str) -> None:
        """Nobody asked."""

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """Nobody asked."""


class _Overheard(_Nobody):
    """An audience that hears only what the server says of its own accord."""

    def __init__(self, listener: Audience) -> None:
        self._audience = listener

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """Logs and the like; what changed, the other connection tells too."""
        if not method.endswith("/list_changed"):
            self._audience.noticed(server, method, params)


def overheard(context: SupervisorContext) -> SupervisorContext:
    """The same, for a second connection to a server whose state and tools are known by the first."""
    return replace(context, listener=_Overheard(context.listener))


def quietly(context: SupervisorContext) -> SupervisorContext:
    """The same, for an instance that only one session uses: its tools are those of the shared one."""
    return replace(context, listener=_Nobody())

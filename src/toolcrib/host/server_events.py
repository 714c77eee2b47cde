"""Passes changes of servers on to the registry, the tool cache and the event bus."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.config.review import is_bundled
from toolcrib.errors import ConfigError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, ServerChanged, ServerLogged, ServerNoticed
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState, ServerStatus
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import ToolCache
from toolcrib.tools.registry import Registry

logger = logging.getLogger(__name__)


class Telemetry(Protocol):
    def server_changed(self, status: ServerStatus) -> None:
        """Record the state of a server."""

    def server_removed(self, name: str) -> None:
        """Record the removal of a server."""


class ServerEvents:
    """The listener of every supervisor."""

    def __init__(
        self,
        registry: Registry,
        cache: ToolCache,
        bus: Bus[Event],
        clock: Clock,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._registry = registry
        self._cache = cache
        self._bus = bus
        self._clock = clock
        self._telemetry = telemetry
        self.pool: Pool | None = None
        """Set once the pool exists; nothing happens to a server before that."""
        self.entries: Mapping[str, ServerEntry] = {}
        self._since: dict[str, tuple[ServerState, datetime]] = {}

    def since(self, server: str) -> datetime | None:
        """When the server's state last changed; None if it never did."""
        known = self._since.get(server)
        return None if known is None else known[1]

    def last_known(self) -> dict[str, CachedTools]:
        """The last tool lists of the configured servers, even if their entries changed since."""
        lists = ((name, self._cache.last(name)) for name in self.entries)
        return {name: tools for name, tools in lists if tools is not None}

    def adopt(self, entries: Iterable[ServerEntry]) -> tuple[str, ...]:
        """Replace the entries; returns the servers whose enabled tools changed."""
        before, self.entries = self.entries, {entry.name: entry for entry in entries}
        other = [
            name
            for name, entry in self.entries.items()
            if _filters(before.get(name, entry)) != _filters(entry)
        ]
        for name in other:
            self.list_again(name)
        return tuple(other)

    def list_again(self, server: str) -> None:
        """Register a server's current tools again, after a change of which are offered."""
        tools = self._registry.snapshot.by_server.get(server, ())
        if tools:
            definitions = [dict(tool.definition.raw) for tool in tools]
            self.listed(server, definitions, stale=any(tool.stale for tool in tools))

    def changed(self, status: ServerStatus) -> None:
        """Publish the new state of a server."""
        known = self._since.get(status.name)
        if known is None or known[0] is not status.state:
            self._since[status.name] = (status.state, self._clock.now())
        self._bus.publish(ServerChanged(status))
        if self._telemetry is not None:
            self._telemetry.server_changed(status)

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """Register a new tool list; a fresh one is also cached."""
        entry = self.entries.get(server)
        include = entry.include_tools if entry else ()
        exclude = entry.exclude_tools if entry else ()
        try:
            problems = self._registry.put(
                server,
                "mcp",
                definitions,
                stale=stale,
                include=include,
                exclude=exclude,
                # A developer changes the tools all the time; `watch` is part of what was approved.
                pinned=entry is not None and not is_bundled(entry.raw) and not entry.watch,
            )
        except ConfigError as error:
            logger.warning("tools refused", extra={"server": server, "reason": error.message})
            return 0
        for problem in problems:
            logger.warning(
                "tool left out", extra={"server": server, "tool": problem.tool, "reason": problem.reason}
            )
        if not stale:
            self._remember(server, definitions)
        return len(self._registry.snapshot.by_server.get(server, ()))

    def staled(self, server: str) -> None:
        """Mark the tools of an unavailable server as stale."""
        self._registry.mark_stale(server)

    def withdrawn(self, server: str) -> None:
        """Remove the tools of a server."""
        self._registry.withdraw(server)

    def forget(self, server: str) -> None:
        """Forget a server that is no longer configured, and its cached tools."""
        self._cache.forget(server)
        self._since.pop(server, None)
        if self._telemetry is not None:
            self._telemetry.server_removed(server)

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """Publish a notification of a server."""
        self._bus.publish(ServerNoticed(server, method, params))
        if method == "notifications/message":
            self._bus.publish(ServerLogged(server, str(params.get("level", "info")), params.get("data")))

    def _remember(self, server: str, definitions: list[Any]) -> None:
        if self.pool is None:
            return
        status = self.pool.status(server)
        self._cache.save(
            CachedTools(
                server=server,
                fingerprint=self.pool.fingerprint(server),
                protocol=status.era or "",
                version=status.version,
                definitions=tuple(definition for definition in definitions if isinstance(definition, dict)),
                saved_at=self._clock.now(),
            )
        )


def _filters(entry: ServerEntry) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return entry.include_tools, entry.exclude_tools

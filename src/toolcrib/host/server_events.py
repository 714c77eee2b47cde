"""Carries what happens to servers into the registry, the cache and the events; the only place that does."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from toolcrib.clock import Clock
from toolcrib.config.launch import is_bundled
from toolcrib.errors import ConfigError
from toolcrib.events import Bus
from toolcrib.schema.events import Event, ServerChanged, ServerLogged, ServerNoticed
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState, ServerStatus
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import ToolCache
from toolcrib.tools.registry import Registry

logger = logging.getLogger(__name__)


class Telemetry(Protocol):
    """Who measures how servers are doing."""

    def server_changed(self, status: ServerStatus) -> None:
        """A server is in this state now."""

    def server_removed(self, name: str) -> None:
        """A server is no longer there."""


class ServerEvents:
    """The audience of every supervisor."""

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
        """When the server came into the state that it is in; None while nothing has happened to it."""
        known = self._since.get(server)
        return None if known is None else known[1]

    def last_known(self) -> dict[str, CachedTools]:
        """The last tool lists of the servers that are configured, whatever has become of their entries."""
        lists = ((name, self._cache.last(name)) for name in self.entries)
        return {name: tools for name, tools in lists if tools is not None}

    def adopt(self, entries: Iterable[ServerEntry]) -> tuple[str, ...]:
        """Take over other entries; returns the servers of which other tools are on now."""
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
        """Put a server's tools into the registry as they are: what decides which are offered has changed."""
        tools = self._registry.snapshot.by_server.get(server, ())
        if tools:
            definitions = [dict(tool.definition.raw) for tool in tools]
            self.listed(server, definitions, stale=any(tool.stale for tool in tools))

    def changed(self, status: ServerStatus) -> None:
        """A server moved to another state."""
        known = self._since.get(status.name)
        if known is None or known[0] is not status.state:
            self._since[status.name] = (status.state, self._clock.now())
        self._bus.publish(ServerChanged(status))
        if self._telemetry is not None:
            self._telemetry.server_changed(status)

    def listed(self, server: str, definitions: list[Any], *, stale: bool) -> int:
        """A tool list arrived: into the registry, and a fresh one into the cache."""
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
                # Whoever writes a server changes its tools all day; `watch` is part of what was agreed to.
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
        """The server is away; its tools stay, marked."""
        self._registry.mark_stale(server)

    def withdrawn(self, server: str) -> None:
        """The server's tools are no longer to be had."""
        self._registry.withdraw(server)

    def forget(self, server: str) -> None:
        """The server is no longer configured; neither is its last list of any use."""
        self._cache.forget(server)
        self._since.pop(server, None)
        if self._telemetry is not None:
            self._telemetry.server_removed(server)

    def noticed(self, server: str, method: str, params: dict[str, Any]) -> None:
        """What a server says of its own accord goes to whoever listens."""
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
                definitions=tuple(one for one in definitions if isinstance(one, dict)),
                saved_at=self._clock.now(),
            )
        )


def _filters(entry: ServerEntry) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return entry.include_tools, entry.exclude_tools

"""The servers of a run's tools: a run waits for one that needs trust, and says why others are not ready.

The wait is durable, as that for an approval: it is one of the run's questions, with their deadline.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from toolcrib.errors import DatabaseError, ServerNotReady, ToolcribError, UnknownServer, UnknownTool
from toolcrib.host import Host
from toolcrib.schema.events import CallFinished
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.servers.restarts import not_ready
from toolcrib.tools.names import BORDER, PREFIX

if TYPE_CHECKING:
    from toolcrib.features.workflows.ports import VisitScope

LOOK = 2.0
"""Seconds after which trust is noticed that another process of this home was given."""
_UP = (ServerState.READY, ServerState.DEGRADED)


class RunServers:
    """Asked before each call of a run."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def of_tool(self, tool: str) -> str | None:
        """The server of a tool, by its name if it is not known at the moment."""
        known = self._host.toolset.registry.snapshot.get(tool)
        if known is not None:
            return known.server
        bare = tool.removeprefix(PREFIX)
        names = [name for name in self._host.servers.names() if bare.startswith(f"{name}{BORDER}")]
        return max(names, key=len, default=None)

    async def until_trusted(self, server: str | None, visit: VisitScope, begun: str | None = None) -> None:
        """Wait while the server lacks trust; raises `ServerNotReady` if it does not get it.

        `begun` is a tool whose call is recorded as begun; it begins after that.
        """
        if server is None or not (visit.held(server) or self._lacks_trust(server)):
            return
        if begun is not None:
            await visit.take_back()
        reason, hint = self._reason(server)
        text = f"{reason} {hint} The run continues then."
        if not await visit.wait_for_server(server, text, lambda: self._trusted(server)):
            raise ServerNotReady(reason, hint=f"{hint} Then run it again from this node.")
        with suppress(ToolcribError):  # The call says why it has not started.
            await self._host.servers[server].settled()
        if begun is not None:
            await visit.begin(begun)

    def explained(self, tool: str, error: ToolcribError) -> ToolcribError:
        """Why the server of a tool is not ready, instead of that it has no tools."""
        server = self.of_tool(tool)
        status = None if server is None else self._status(server)
        if (
            status is None
            or status.state in _UP
            or self._host.toolset.registry.snapshot.get(tool) is not None
        ):
            return error
        if not self._host.settings.global_enabled:
            return ServerNotReady("Everything is switched off.", hint="Switch it on with: toolcrib on")
        return not_ready(status)

    async def find(self, tool: str, visit: VisitScope) -> None:
        """Return once a tool is known; raises `UnknownTool` or `ServerNotReady`."""
        await self.until_trusted(self.of_tool(tool), visit)
        registry = self._host.toolset.registry
        try:
            registry.resolve(tool)
        except (UnknownTool, ServerNotReady) as error:
            await self._host.toolset.caller.arrive(tool)
            if registry.snapshot.get(tool) is None:
                raise self.explained(tool, error) from None

    async def _trusted(self, server: str) -> None:
        """Return when the server has the user's trust, or is gone."""
        with self._host.events.subscribe(without=CallFinished) as events:
            while self._lacks_trust(server):
                try:
                    async with asyncio.timeout(LOOK):
                        await events.next()
                except TimeoutError:
                    with suppress(DatabaseError):
                        await self._refresh()

    async def _refresh(self) -> None:
        if await self._host.core.trust.refresh():
            await self._host.apply(self._host.config)

    def _lacks_trust(self, server: str) -> bool:
        status = self._status(server)
        return status is not None and status.state is ServerState.NEEDS_TRUST

    def _reason(self, server: str) -> tuple[str, str]:
        hint = f"Trust it: toolcrib trust {server}"
        status = self._status(server)
        return f"The server {server} needs your trust. {status.reason if status else ''}".strip(), f"{hint}."

    def _status(self, server: str) -> ServerStatus | None:
        try:
            return self._host.servers.status(server)
        except UnknownServer:
            return None

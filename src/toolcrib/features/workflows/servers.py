"""The servers of a run's tools: a run waits for one that needs trust, and says why others are not ready.

The wait is durable, as that for an approval: it is one of the run's questions, with their deadline.
"""

from __future__ import annotations

import asyncio
import hashlib
import shlex
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolcrib.errors import (
    DatabaseError,
    ServerNotReady,
    ToolcribError,
    UnknownServer,
    UnknownTool,
    UsageError,
)
from toolcrib.host import Host
from toolcrib.schema.events import CallFinished
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool
from toolcrib.servers.restarts import not_ready
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.names import BORDER, PREFIX

if TYPE_CHECKING:
    from toolcrib.features.workflows.ports import VisitScope

BUNDLED = "desktop"
_BUNDLED_ENTRY = {"type": "inprocess", "module": "toolcrib.bundled.desktop"}

LOOK = 2.0
"""Seconds after which trust is noticed that another process of this home was given."""
_UP = (ServerState.READY, ServerState.DEGRADED)


class DesktopServers:
    """Servers of running workflows that are not in the config file; runs with the same choice share one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._users: dict[str, set[str]] = {}
        self._changing = asyncio.Lock()

    async def open(self, choice: str, run: str, trusted: Callable[[str], Awaitable[None]]) -> str:
        """The name of the server for this run, once it is ready; `trusted` waits for the user's trust."""
        name, entry = desktop_entry(choice, self._host.config.servers)
        if entry is not None:
            await self._add(name, entry, run)
        await trusted(name)
        await self._ready(name)
        return name

    async def close(self, run: str) -> None:
        """The run has ended: stop the servers that no other run uses."""
        async with self._changing:
            unused = [name for name, users in self._users.items() if run in users and users == {run}]
            for users in self._users.values():
                users.discard(run)
            for name in unused:
                del self._users[name]
                self._host.core.added.pop(name, None)
            if unused:
                await self._host.apply(self._host.config)

    def tool(self, server: str, name: str) -> Tool:
        """A tool of the desktop server by its own name; raises `UnknownTool`."""
        tools = self._host.toolset.registry.snapshot.by_server.get(server, ())
        for tool in tools:
            if tool.definition.name == name:
                return tool
        known = [tool.definition.name for tool in tools]
        hint = did_you_mean(name, known, otherwise="Choose another desktop server in the workflow's options.")
        raise UnknownTool(f"The desktop server {server} has no tool {name!r}.", hint=hint)

    async def _add(self, name: str, entry: Mapping[str, Any], run: str) -> None:
        async with self._changing:
            self._users.setdefault(name, set()).add(run)
            if name not in self._host.core.added:
                self._host.core.added[name] = entry
                await self._host.apply(self._host.config)

    async def _ready(self, name: str) -> None:
        await self._host.servers[name].settled()
        status = self._host.servers.status(name)
        if status.state not in _UP:
            raise ServerNotReady(
                f"The desktop server {name} is not ready: {status.reason or status.state}",
                hint=status.hint or f"See its log with: toolcrib logs {name}",
            )


def desktop_entry(choice: str, servers: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """The server's name, and its entry if it has to be added: the bundled one, or a command line."""
    if choice in servers:
        return choice, None
    if choice == BUNDLED:
        return BUNDLED, _BUNDLED_ENTRY
    try:
        command, *arguments = shlex.split(choice)
    except ValueError as error:
        raise _unusable(choice) from error
    digest = hashlib.sha256("\0".join([command, *arguments]).encode()).hexdigest()[:8]
    return f"desktop-{digest}", {"command": command, "args": arguments}


def _unusable(choice: str) -> ToolcribError:
    return UsageError(
        f"{choice[:200]!r} is neither a server nor a command.",
        hint="Set options.desktop to a registered server, a command line, or the path of a program.",
    )


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

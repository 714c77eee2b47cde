"""The desktop server of a run: a registered one, or a command that starts with the run and ends with it."""

from __future__ import annotations

import asyncio
import hashlib
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolcrib.errors import ServerNotReady, ToolcribError, UnknownTool, UsageError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState
from toolcrib.schema.tools import Tool
from toolcrib.suggestions import did_you_mean

BUNDLED = "desktop"
_BUNDLED_ENTRY = {"type": "inprocess", "module": "toolcrib.bundled.desktop"}
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

"""Finds servers and tools by name, and waits for servers that are starting (timeout). Errors for an unknown
tool ("Did you mean") and for a server that is not ready."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from contextlib import suppress

from toolcrib.config.store import unknown_server
from toolcrib.errors import ServerNotReady, ToolcribError, UnknownTool
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState, ServerStatus
from toolcrib.schema.tools import Tool
from toolcrib.servers.restarts import not_ready
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.names import BORDER, PREFIX

TIMEOUT = 60.0
"""Seconds to wait for servers that are starting; each start has its own, usually shorter, timeout."""
UP = (ServerState.READY, ServerState.DEGRADED)

_HASHED = re.compile(r"_[0-9a-f]{10,24}\Z")


def check_server(host: Host, name: str) -> None:
    """Raise `UnknownServer` unless a server of this name is configured, even if its entry is broken."""
    configured = host.config.names
    if name not in configured:
        raise unknown_server(name, configured)


def possible_owners(tool: str, servers: Collection[str]) -> tuple[str, ...]:
    """The servers that a tool of this public name may belong to.

    Names are never split into server and tool; this only avoids starting servers that cannot have it. A
    name that ends in a digest may belong to any server.
    """
    if _HASHED.search(tool):
        return tuple(servers)
    bare = tool.removeprefix(PREFIX)
    return tuple(name for name in servers if bare.startswith(f"{name}{BORDER}"))


async def find_tool(host: Host, name: str) -> Tool:
    """The tool with this public name. Waits while a server that may offer it is starting.

    Raises `ServerNotReady` with the reason if its server is not up, else `UnknownTool`.
    """
    owners = [owner for owner in possible_owners(name, host.config.names) if owner in host.servers]
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TIMEOUT
    with host.events.subscribe() as events:
        while True:
            try:
                return host.toolset.registry.resolve(name)
            except (UnknownTool, ServerNotReady) as error:
                states = [host.servers.status(owner).state for owner in owners]
                if ServerState.STARTING not in states or loop.time() >= deadline:
                    raise _error_for(host, name, owners, error) from None
            try:
                async with asyncio.timeout_at(deadline):
                    await events.next()
            except TimeoutError:
                continue


def _error_for(host: Host, name: str, owners: list[str], error: ToolcribError) -> ToolcribError:
    if host.toolset.registry.snapshot.get(name) is not None:
        return error  # it exists, and the error says why it cannot be called
    if len(owners) == 1:
        status = host.servers.status(owners[0])
        if status.state not in UP:
            return not_up(status, switched_on=host.config.settings.global_enabled)
    if isinstance(error, ServerNotReady) or error.hint.startswith("Did you mean"):
        return error
    known = [tool.name for tool in host.tools()]
    return UnknownTool(error.message, hint=did_you_mean(name, known, otherwise=error.hint))


def not_up(status: ServerStatus, *, switched_on: bool = True) -> ServerNotReady:
    """The error for a server that cannot be used."""
    if not switched_on:
        return ServerNotReady("Everything is switched off.", hint="Switch it on with: toolcrib on")
    if status.state in (ServerState.DISABLED, ServerState.STARTING):
        return not_ready(status)
    hint = status.hint or f"See its log with: toolcrib logs {status.name}"
    return ServerNotReady(f"{status.name} is not ready ({status.state}): {status.reason}", hint=hint)


async def servers_settled(host: Host, seconds: float) -> None:
    """Wait up to so long while servers are starting."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await host.servers.settle()


async def settled(host: Host, seconds: float) -> None:
    """The same, also while their tools are being checked."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await host.ready()

"""Changes to the configuration that take effect at once in the host at hand."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.servers import MasterSwitch, Server, Switched
from toolcrib.control.lookup import check_server, not_up
from toolcrib.control.server_notes import ALL, note_switch
from toolcrib.control.shapes import server_json
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerState, ServerStatus

START_MARGIN = 5.0
"""Seconds beyond a server's own start deadline, for its turn to come."""


async def set_enabled(host: Host, name: str, enabled: bool) -> Switched:
    """Switch one server on or off, in the file and here."""
    await asyncio.to_thread(host.config_store.set_enabled, name, enabled)
    await asyncio.to_thread(note_switch, host, name, enabled)
    await host.reload()
    return {"name": name, "enabled": enabled, "server": status_json(host, name)}


async def set_master_switch(host: Host, enabled: bool) -> MasterSwitch:
    """Switch everything on or off, in the file and here."""
    running = sum(status.pid is not None for status in host.servers.statuses())
    await asyncio.to_thread(host.config_store.set_global_enabled, enabled)
    await asyncio.to_thread(note_switch, host, ALL, enabled, running)
    await host.reload()
    return {"enabled": enabled}


def status_json(host: Host, name: str) -> Server | None:
    """How the server is doing in this host; None where this host does not run it."""
    if name not in host.servers:
        return None
    return server_json(host.servers.status(name), host.caller.counts)


async def settled(host: Host, name: str, within: float | None = None) -> ServerStatus:
    """The status once the server is up or has failed, or when it takes too long."""
    supervisor = host.servers[name]
    try:
        async with asyncio.timeout(within or supervisor.entry.start_timeout + START_MARGIN):
            return await supervisor.settled()
    except TimeoutError:
        return supervisor.status


async def started(host: Host, name: str) -> Server:
    """The server's status after a start; raises `ServerNotReady` with the reason when it failed."""
    status = await settled(host, name)
    if status.state in (ServerState.READY, ServerState.DEGRADED, ServerState.STARTING):
        return server_json(status, host.caller.counts)
    raise not_up(status)


def check_startable(host: Host, name: str) -> None:
    """Refuse to start what is not configured, and anything while everything is switched off."""
    check_server(host, name)
    if not host.config.settings.global_enabled:
        raise UsageError("Everything is switched off.", hint="Switch it on first: toolcrib on")

"""`restore`: bring back a server that was just removed, as it was and where it stood."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.control.answers.adding import ServerRestored
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.host.removals import RemovedServer

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host that it was removed from."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> ServerRestored:
    """`{name, trusted}`; raises `NotFound` when its time is over."""
    if params.name in (*host.config.servers, *host.config.broken):
        raise UsageError(f"There is already a server called {params.name!r}.", hint="Rename that one first.")
    removed = host.removals.take_back(params.name)
    await asyncio.to_thread(_put_back, host, removed)
    await host.reload()
    entry = host.config.servers.get(params.name)
    return {"name": params.name, "trusted": entry is not None and host.trust.holds(entry)}


def _put_back(host: Host, removed: RemovedServer) -> None:
    with host.config_store.edit() as document:
        servers: dict[str, Any] = document.setdefault("mcpServers", {})
        others = dict(servers)
        servers.clear()
        if removed.after not in others:
            servers[removed.name] = removed.raw
        for name, entry in others.items():
            servers[name] = entry
            if name == removed.after:
                servers[removed.name] = removed.raw

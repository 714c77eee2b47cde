"""`remove`: take a server out of the config file; the file as it was before stays as a backup."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import secrets_of
from toolcrib.host import Host


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> dict[str, Any]:
    """`{name, removed, backup, unused_secrets}`."""
    check_server(host, params.name)
    entry = await asyncio.to_thread(host.config_store.remove_server, params.name)
    await host.reload()
    stored = await asyncio.to_thread(host.secrets.names)
    used = {name for other in host.config.servers.values() for name in secrets_of(other.raw)}
    backup = host.config_store.path.with_name(f"{host.config_store.path.name}.bak")
    return {
        "name": params.name,
        "removed": True,
        "backup": str(backup),
        "unused_secrets": [name for name in secrets_of(entry) if name in stored and name not in used],
    }

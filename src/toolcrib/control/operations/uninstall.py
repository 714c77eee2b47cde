"""`uninstall`: end an installed server, take it out of the config file, and remove its files."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.config.store import unknown_server
from toolcrib.control.answers.installing import Uninstalled
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import secrets_of, used_by
from toolcrib.errors import UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str
    dry_run: bool = False
    """Only say what would be removed."""


def needs(params: Params, configured: Configured) -> Needs:
    """The files of one server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Uninstalled:
    """`{name, removed, versions, backup, unused_secrets}`; `removed` tells of the entry."""
    installations = installations_of(host)
    place = installations.place(params.name)
    configured = (*host.config.servers, *host.config.broken)
    if not place.folder.is_dir():
        if params.name not in configured:
            raise unknown_server(params.name, (*configured, *installations.names()))
        raise UsageError(
            f"{params.name} is configured, and nothing is installed for it.",
            hint=f"Take it out of the configuration with: toolcrib remove {params.name}",
        )
    versions = [record.version for record in place.versions()]
    if params.dry_run:
        return _outcome(params.name, versions)
    entry: Any = None
    if params.name in configured:
        # First the entry: a server that runs from these files must have ended before they go.
        entry = await asyncio.to_thread(host.config_store.remove_server, params.name)
        await host.reload()
    await asyncio.to_thread(installations.uninstall, params.name)
    backup = host.config_store.path.with_name(f"{host.config_store.path.name}.bak")
    stored = await asyncio.to_thread(host.secrets.names)
    used = {name for other in host.config.servers.values() for name in used_by(other.raw)}
    return {
        **_outcome(params.name, versions),
        "removed": entry is not None,
        "backup": str(backup) if entry is not None else None,
        "unused_secrets": [name for name in secrets_of(entry) if name in stored and name not in used],
    }


def _outcome(name: str, versions: list[str]) -> Uninstalled:
    return {"name": name, "removed": False, "versions": versions, "backup": None, "unused_secrets": []}

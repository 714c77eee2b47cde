"""`remove`: take a server out of the config file; its process ends.

With `undo` seconds, what was installed for it and its own secrets go too, but not before that time is over:
until then `restore` brings it back as it was.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from pydantic import Field

from toolcrib.control.answers.adding import ServerRemoval
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import secrets_of, used_by
from toolcrib.control.server_notes import forget_note
from toolcrib.host import Host
from toolcrib.host.removals import RemovedServer

FOR_PAGES = True


class Params(OperationParams):
    """The server, and for how long it can be brought back; 0 leaves its files and secrets where they are."""

    name: str
    undo: float = Field(default=0.0, ge=0, le=600)


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ServerRemoval:
    """`{name, removed, backup, unused_secrets, undo?}`."""
    check_server(host, params.name)
    removed = await asyncio.to_thread(_take_out, host, params.name)
    await host.reload()
    host.setups.forget(params.name)
    stored = await asyncio.to_thread(host.secrets.names)
    unused = _unused(host, removed.raw, stored)
    backup = host.config_store.path.with_name(f"{host.config_store.path.name}.bak")
    answer: ServerRemoval = {
        "name": params.name,
        "removed": True,
        "backup": str(backup),
        "unused_secrets": unused,
    }
    if params.undo:
        host.removals.keep(removed, params.undo, partial(_clear, host, removed))
        answer["undo"] = params.undo
    return answer


def _take_out(host: Host, name: str) -> RemovedServer:
    with host.config_store.edit() as document:
        servers = document["mcpServers"]
        names = list(servers)
        place = names.index(name)
        after = names[place - 1] if place else None
        return RemovedServer(name=name, raw=servers.pop(name), after=after)


def _unused(host: Host, raw: Any, stored: Iterable[str]) -> list[str]:
    used = {name for other in host.config.servers.values() for name in used_by(other.raw)}
    return [name for name in secrets_of(raw) if name in stored and name not in used]


async def _clear(host: Host, removed: RemovedServer) -> None:
    """What nobody else uses goes; a server of this name that has come back meanwhile keeps everything."""
    if removed.name in (*host.config.servers, *host.config.broken):
        return
    stored = await asyncio.to_thread(host.secrets.names)
    for name in _unused(host, removed.raw, stored):
        await asyncio.to_thread(host.secrets.delete, name)
    await asyncio.to_thread(host.credentials.forget, removed.name)
    await asyncio.to_thread(installations_of(host).uninstall, removed.name)
    await asyncio.to_thread(forget_note, host, removed.name)

"""`add`: write a new server into the config file, its secrets into the store, and let it start."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from toolcrib.config.aliases import ADDRESS_TYPE
from toolcrib.config.entries import parse_entry
from toolcrib.config.review import review_entry
from toolcrib.control.answers.installing import ServerAdded
from toolcrib.control.answers.servers import Server
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.probing import find_kind
from toolcrib.control.shapes import server_json
from toolcrib.control.surface import is_page
from toolcrib.control.switching import settled
from toolcrib.control.tool_findings import found_in_server
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.servers.connector import find_transport

FOR_PAGES = True

SILENCE = (
    "Nobody answers at this address now. When it does, streamable HTTP is tried first, then the older SSE."
)


class Params(OperationParams):
    """The entry as it will stand in the file, and the values of the secrets it refers to."""

    name: str
    entry: dict[str, Any]
    secrets: dict[str, str] = Field(default_factory=dict, repr=False)
    replace: bool = False
    probe: bool = False
    """The entry has an address: its type is found by trying."""
    wait: float = Field(default=0.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ServerAdded:
    """What was written, and how the server is doing: `server` is null where no host runs."""
    find_transport(parse_entry(params.name, params.entry))
    # Before the secrets are stored: a refused server must leave none behind.
    if params.name in (*host.config.servers, *host.config.broken) and not params.replace:
        raise UsageError(
            f"There is already a server called {params.name!r}.",
            hint="Choose another name, or add --replace to put this one in its place.",
        )
    for name, value in params.secrets.items():
        await asyncio.to_thread(host.secrets.set, name, value)
    raw, silence = await _typed(host, params)
    entry = await asyncio.to_thread(host.config_store.add_server, params.name, raw, replace=params.replace)
    if not is_page():  # whoever adds it by a command has been shown what it runs
        host.trust.accept(entry)
    await host.reload()
    status = await _status(host, params)
    return {
        "name": params.name,
        "type": entry.type,
        "enabled": entry.enabled,
        "entry": raw,
        "remarks": [*review_entry(raw), *silence],
        "findings": found_in_server(host, params.name),
        "secrets": sorted(params.secrets),
        "server": status,
    }


async def _typed(host: Host, params: Params) -> tuple[dict[str, Any], list[str]]:
    """The entry with its type, and what is to be said where nobody could tell it."""
    if not params.probe:
        return params.entry, []
    kind = await find_kind(host, params.name, params.entry)
    return {**params.entry, "type": kind or ADDRESS_TYPE}, [] if kind else [SILENCE]


async def _status(host: Host, params: Params) -> Server | None:
    if params.name not in host.servers:
        return None
    if params.wait:
        return server_json(await settled(host, params.name, params.wait), host.caller.counts)
    return server_json(host.servers.status(params.name), host.caller.counts)

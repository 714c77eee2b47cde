"""`entry_edit`: put another entry in a server's place, unless somebody else changed it meanwhile.

A change of what it runs needs a person's word again: `trust` shows it.
"""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.config.entries import parse_entry
from toolcrib.config.review import review_entry
from toolcrib.control.answers.adding import EntryWritten
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.entry_text import changed_meanwhile, entry_digest, parse_text, unknown_keys
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.servers.connector import find_transport

FOR_PAGES = True


class Params(OperationParams):
    """The server, its new entry as JSON, and the digest of the one that the person saw."""

    name: str
    text: str = Field(max_length=1024 * 1024)
    digest: str = ""
    """Empty overwrites whatever is there."""


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> EntryWritten:
    """`{name, digest, unknown, needs_trust, remarks}`; raises `Conflict` when it is another one by now."""
    raw = parse_text(params.text, params.name)
    entry = parse_entry(params.name, raw)
    find_transport(entry)
    await asyncio.to_thread(_write, host, params, raw)
    await host.reload()
    return {
        "name": params.name,
        "digest": entry_digest(raw),
        "unknown": unknown_keys(raw),
        "needs_trust": not host.trust.holds(entry),
        "remarks": list(review_entry(raw)),
    }


def _write(host: Host, params: Params, raw: dict[str, object]) -> None:
    with host.config_store.edit() as document:
        servers = document.get("mcpServers") or {}
        if params.digest and entry_digest(servers.get(params.name)) != params.digest:
            raise changed_meanwhile(host, params.name)
        servers[params.name] = raw
        document["mcpServers"] = servers

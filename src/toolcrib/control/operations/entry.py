"""`entry`: a server's entry as it stands in the config file, all keys included, to be edited as text."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.adding import EntryText
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.entry_text import entry_digest, read_entry, unknown_keys
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The file alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> EntryText:
    """`{name, text, digest, unknown, line, file}`; `entry_edit` takes the digest."""
    found = await asyncio.to_thread(read_entry, host, params.name)
    return {
        "name": params.name,
        "text": found.text,
        "digest": entry_digest(found.raw),
        "unknown": unknown_keys(found.raw),
        "line": found.line,
        "file": str(host.config_store.path),
    }

"""`client_entry`: how an MCP client is pointed at this crib; nothing is written."""

from __future__ import annotations

from toolcrib.config.client_files.tables import snippet
from toolcrib.control.answers.connecting import ClientEntry
from toolcrib.control.connecting import ENTRY, ClientParams, wanted_entry
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(ClientParams):
    """The client, the view and the way."""


def needs(params: Params, configured: Configured) -> Needs:
    """The config alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ClientEntry:
    """The command, the file and the entry."""
    wanted = wanted_entry(host, params)
    client = wanted.client
    return {
        "client": params.client,
        "title": client.title,
        "form": params.form,
        "command": wanted.command,
        "file": str(wanted.file),
        "snippet": snippet(client, ENTRY, wanted.entry),
        "afterwards": client.afterwards,
        "needs_token": wanted.needs_token,
    }

"""`client_connect`: write the entry for this crib into the file of an MCP client, or take it out again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from toolcrib.config.client_files.editing import Change, plan_connection, plan_removal, write_change
from toolcrib.control.answers.connecting import ClientChanged
from toolcrib.control.connecting import ENTRY, ClientParams, Wanted, wanted_entry
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(ClientParams):
    """The client, the view and the way; `remove` takes the entry out."""

    remove: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """The config alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ClientChanged:
    """What became of the file; everything else in it stays, and it is kept as it was."""
    wanted = wanted_entry(host, params)
    if wanted.needs_token and not params.remove:
        raise UsageError(
            "The entry would need the view's token, which is not kept here.",
            hint=f"Type in a terminal: {wanted.command}",
        )
    file = wanted.file
    change = await asyncio.to_thread(_change, wanted, file, params.remove)
    return {
        "client": params.client,
        "title": wanted.client.title,
        "file": str(file),
        "written": change.needed,
        "backup": str(change.backup) if change.needed and change.before is not None else None,
        "afterwards": wanted.client.afterwards,
    }


def _change(wanted: Wanted, file: Path, remove: bool) -> Change:
    if remove:
        change = plan_removal(wanted.client, file, ENTRY)
    else:
        change = plan_connection(wanted.client, file, ENTRY, wanted.entry)
    if change.needed:
        write_change(change)
    return change

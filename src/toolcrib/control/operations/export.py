"""`export`: our servers in the words of another host, shown or written into its file; never a secret."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from toolcrib.config.client_files.client import Client, find_client
from toolcrib.config.client_files.editing import plan_entries, write_change
from toolcrib.config.client_files.places import find_places
from toolcrib.config.importing.dialect import Inexpressible
from toolcrib.config.importing.writing import Written, write_entry
from toolcrib.control.answers.importing import Exported, ExportedServer
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lending import as_command
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.surface import is_page
from toolcrib.errors import Denied
from toolcrib.host import Host

FOR_PAGES = True

INSTALLED = "It starts the version that is installed now: export it again after an update."


class Params(OperationParams):
    """The host, the servers (all when none is named), and whether its file is written."""

    host: str
    only: list[str] = Field(default_factory=list)
    file: str | None = None
    write: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Exported:
    """`{host, title, file, document, servers, left_out, changes, replaces, written, backup}`."""
    if is_page() and params.file is not None:
        raise Denied("A page writes to no file that it names.", hint="Use the command: toolcrib export")
    for name in params.only:
        check_server(host, name)
    client = find_client(params.host).here(find_places())
    written, left_out = _write_entries(host, params, client)
    entries = {one.name: one.entry for one in written}
    document = client.syntax.set_entries("", client.table, entries)
    file = Path(params.file) if params.file else client.file(find_places())
    change = await asyncio.to_thread(plan_entries, client, file, entries, client.dialect.keys())
    if params.write:
        await asyncio.to_thread(write_change, change)
    return {
        "host": params.host,
        "title": client.title,
        "file": str(file),
        "document": document,
        "servers": [_told(one) for one in written],
        "left_out": left_out,
        "changes": change.needed,
        "replaces": change.replaces,
        "written": params.write and change.needed,
        "backup": str(change.backup) if change.before is not None else None,
    }


def _write_entries(host: Host, params: Params, client: Client) -> tuple[list[Written], dict[str, str]]:
    written, left_out = [], dict.fromkeys(host.config.broken, "its entry is broken")
    installs = host.paths.data / "servers"
    for name, entry in host.config.servers.items():
        if params.only and name not in params.only:
            continue
        try:
            raw = as_command(name, entry.raw, installs)
            one = write_entry(params.host, client.title, client.dialect, name, raw)
            notes = (*one.notes, INSTALLED) if "version" in entry.raw else one.notes
            written.append(replace(one, notes=notes))
        except Inexpressible as error:
            left_out[name] = str(error)
    wanted = params.only or [*host.config.servers, *host.config.broken]
    return written, {name: reason for name, reason in left_out.items() if name in wanted}


def _told(one: Written) -> ExportedServer:
    return {
        "name": one.name,
        "entry": dict(one.entry),
        "variables": [{"name": name, "secret": secret} for name, secret in one.variables.items()],
        "notes": list(one.notes),
    }

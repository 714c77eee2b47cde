"""Writing our servers into other programs' config files: how an installed server becomes a command, and which
are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from toolcrib.config.aliases import COMMAND_TYPE, canonical
from toolcrib.config.sections import InvalidValue
from toolcrib.errors import ConfigError, Denied
from toolcrib.features.clients.files.client import McpClient, find_client
from toolcrib.features.clients.files.file_changes import plan_entries, write_change
from toolcrib.features.clients.files.gateway import find_user_folders
from toolcrib.features.clients.results import Exported
from toolcrib.features.clients.transfer.dialect import Inexpressible
from toolcrib.features.clients.transfer.translation import ExportedServer, write_entry
from toolcrib.host import Host
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import Invocation, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.servers.transport import LinkContext, find_transport, traits_of

INSTALLED = "It starts the currently installed version: export it again after an update."


class ExportParams(OperationParams):
    """The target host, the servers (all if empty), and whether to write its file."""

    host: str
    only: list[str] = Field(default_factory=list)
    file: str | None = None
    write: bool = False


@operation(page=True)
async def export(host: Host, invocation: Invocation[Any], params: ExportParams) -> Exported:
    """Show our servers in the format of another program, or write them into its file; never a secret."""
    if invocation.from_page and params.file is not None:
        raise Denied("The page cannot choose the file.", hint="Use the command: toolcrib export")
    for name in params.only:
        check_server(host, name)
    client = find_client(params.host).here(find_user_folders())
    written, left_out = _write_entries(host, params, client)
    entries = {exported.name: exported.entry for exported in written}
    document = client.syntax.set_entries("", client.table, entries)
    file = Path(params.file) if params.file else client.file(find_user_folders())
    change = await asyncio.to_thread(plan_entries, client, file, entries, client.dialect.keys())
    if params.write:
        await asyncio.to_thread(write_change, change)
    return {
        "host": params.host,
        "title": client.title,
        "file": str(file),
        "document": document,
        "servers": written,
        "left_out": left_out,
        "changes": change.needed,
        "replaces": change.replaces,
        "written": params.write and change.needed,
        "backup": str(change.backup) if change.before is not None else None,
    }


def _write_entries(
    host: Host, params: ExportParams, client: McpClient
) -> tuple[list[ExportedServer], dict[str, str]]:
    written, left_out = [], dict.fromkeys(host.config.broken, "its entry is broken")
    installs = host.paths.data / "servers"
    for name, entry in host.config.servers.items():
        if params.only and name not in params.only:
            continue
        try:
            raw = as_command(name, entry.raw, installs)
            exported = write_entry(params.host, client.title, client.dialect, name, raw)
            notes = (*exported.notes, INSTALLED) if "version" in entry.raw else exported.notes
            written.append(replace(exported, notes=notes))
        except Inexpressible as error:
            left_out[name] = str(error)
    wanted = params.only or [*host.config.servers, *host.config.broken]
    return written, {name: reason for name, reason in left_out.items() if name in wanted}


_LAUNCH_KEYS = (
    "type",
    "module",
    "package",
    "version",
    "tarballPath",
    "sourcePath",
    "command",
    "args",
    "env",
    "cwd",
    "reference",
)


def as_command(name: str, raw: Mapping[str, Any], installs: Path) -> dict[str, Any]:
    """The entry with a command or an address; unchanged if that is not possible."""
    values = canonical(raw)
    kind = values.get("type")
    rest = {key: value for key, value in values.items() if key not in _LAUNCH_KEYS}
    if kind is None or not traits_of(kind).exportable:
        return values
    return _resolved(name, kind, values, installs) | rest


def _resolved(name: str, kind: str, values: dict[str, Any], installs: Path) -> dict[str, Any]:
    transport: Any = find_transport(kind)
    try:
        spec = transport.resolve(transport.Spec.read(values), LinkContext(server=name, installs=installs))
    except (ConfigError, InvalidValue):
        return values
    found = {"command": spec.command, "args": list(spec.args), "env": dict(spec.env), "cwd": spec.cwd}
    return {"type": COMMAND_TYPE, **{key: value for key, value in found.items() if value}}

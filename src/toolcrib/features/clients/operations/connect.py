"""MCP clients on this machine: which can be connected to the gateway, their entries, and the command that
writes the same entry.
"""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.config.own_program import NAME
from toolcrib.config.settings_file import unknown_profile
from toolcrib.errors import NoHost, UsageError
from toolcrib.features.clients.files.client import McpClient, find_client, snippet
from toolcrib.features.clients.files.file_changes import (
    FileChange,
    KnownClient,
    client_states,
    plan_connection,
    plan_removal,
    write_change,
)
from toolcrib.features.clients.files.gateway import (
    HIDDEN_TOKEN,
    Address,
    Program,
    find_program,
    find_user_folders,
    make_address,
)
from toolcrib.features.clients.results import ClientChanged, ClientEntry, EntryForm
from toolcrib.host import Host
from toolcrib.operations.operation import operation
from toolcrib.operations.params_model import OperationParams


@operation(page=True)
async def clients(host: Host) -> list[KnownClient]:
    """List the MCP clients that can be connected, those found here, and those already connected."""
    return await asyncio.to_thread(client_states)


class ClientParams(OperationParams):
    """An MCP client, the gateway profile for it, and how it connects."""

    client: str
    profile: str = ""
    form: EntryForm = "program"


class ClientConnectParams(ClientParams):
    """The client, the profile and the form; `remove` removes the entry."""

    remove: bool = False


@operation(page=True)
async def client_connect(host: Host, params: ClientConnectParams) -> ClientChanged:
    """Write the gateway's entry into the config file of an MCP client, or remove it.

    Everything else in the file stays; a backup is kept.
    """
    wanted = planned_entry(host, params)
    if wanted.needs_token and not params.remove:
        raise UsageError(
            "The entry needs the profile's token, which is not stored here.",
            hint=f"Run in a terminal: {wanted.command}",
        )
    change = await asyncio.to_thread(_change, wanted, params.remove)
    return {
        "client": params.client,
        "title": wanted.client.title,
        "file": str(wanted.file),
        "written": change.needed,
        "backup": str(change.backup) if change.needed and change.before is not None else None,
        "afterwards": wanted.client.afterwards,
    }


def _change(wanted: PlannedEntry, remove: bool) -> FileChange:
    if remove:
        change = plan_removal(wanted.client, wanted.file, NAME)
    else:
        change = plan_connection(wanted.client, wanted.file, NAME, wanted.entry)
    write_change(change)
    return change


class ClientEntryParams(ClientParams):
    """The client, the profile and the form."""


@operation(page=True)
async def client_entry(host: Host, params: ClientEntryParams) -> ClientEntry:
    """Show the entry that connects an MCP client; nothing is written."""
    wanted = planned_entry(host, params)
    client = wanted.client
    return {
        "client": params.client,
        "title": client.title,
        "form": params.form,
        "command": wanted.command,
        "file": str(wanted.file),
        "snippet": snippet(client, NAME, wanted.entry),
        "afterwards": client.afterwards,
        "needs_token": wanted.needs_token,
    }


@dataclass(frozen=True)
class PlannedEntry:
    """The entry for a client's config file."""

    client: McpClient
    entry: dict[str, Any]
    command: str
    needs_token: bool

    @property
    def file(self) -> Path:
        return self.client.file(find_user_folders())


def planned_entry(host: Host, params: ClientParams) -> PlannedEntry:
    """Raises `NotFound` for an unknown client or profile."""
    client = find_client(params.client).here(find_user_folders())
    if params.profile and params.profile not in host.settings.profiles:
        raise unknown_profile(params.profile, host.settings.profiles)
    needs_token = params.form == "address" and bool(_token_hash(host, params.profile))
    gateway = _gateway(host, params, needs_token)
    entry = client.entry(NAME, gateway)
    return PlannedEntry(client, entry, _command(client, params, gateway, needs_token), needs_token)


def _gateway(host: Host, params: ClientParams, needs_token: bool) -> Program | Address:
    if params.form == "program":
        return find_program(params.profile, host.paths.home)
    base = host.pages.address
    if base is None:
        raise NoHost("No gateway with an address is running.", hint="Start one with: toolcrib up")
    return make_address(base, params.profile, token=HIDDEN_TOKEN if needs_token else "")


def _token_hash(host: Host, profile: str) -> str | None:
    return host.settings.profiles[profile].token_hash if profile else host.settings.gateway.token_hash


def _command(client: McpClient, params: ClientParams, gateway: Program | Address, needs_token: bool) -> str:
    """The client's own command if it has one; ours prompts for a token, which is never part of a command."""
    if client.own_command is not None and not needs_token:
        return shlex.join(client.own_command(NAME, gateway))
    command = ["toolcrib", "connect", params.client.replace("_", "-")]
    if params.profile:
        command += ["--profile", params.profile]
    if isinstance(gateway, Address):
        command += ["--http", gateway.url]
    if needs_token:
        command.append("--token")
    return shlex.join(command)

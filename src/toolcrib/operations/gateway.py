"""The gateway: its profiles, and the clients connected to it."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from toolcrib.config.settings import ClientApprovals
from toolcrib.config.settings_file import (
    put_profile,
    remove_profile,
    set_approvals,
    set_token_hash,
    unknown_profile,
)
from toolcrib.errors import NoHost, UsageError
from toolcrib.features.clients.files.client import McpClient, find_client, snippet
from toolcrib.features.clients.files.file_changes import (
    Change,
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
from toolcrib.host import Host
from toolcrib.host.sharing import change_profiles
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import (
    OperationParams,
    operation,
)
from toolcrib.operations.results.gateway import (
    ClientChanged,
    ClientEntry,
    EntryForm,
    ProfileRemoved,
    ProfileShown,
    ViewUse,
    profile_json,
)
from toolcrib.schema.json_values import moment
from toolcrib.store.columns import from_stored, to_stored
from toolcrib.store.connection import Connection


@operation(page=True)
async def profile_list(host: Host) -> list[ProfileShown]:
    """List the gateway's profiles and which of them need a token; never the token.

    The first has no name and offers everything.
    """
    return [profile_json(host.settings, name) for name in ("", *host.settings.profiles)]


class ProfileAddParams(OperationParams):
    name: str
    servers: list[str] = Field(default_factory=list)
    tools: list[str] = Field(default_factory=list)
    read_only: bool = False
    search: bool = False
    plain_names: bool = False
    k: int | None = Field(default=None, ge=1, le=50)
    always_on: list[str] | None = None
    approvals: ClientApprovals | None = None
    replace: bool = False


@operation(page=True)
async def profile_add(host: Host, params: ProfileAddParams) -> ProfileShown:
    """Add a profile to the config file; a running gateway serves it at once."""
    for server in params.servers:
        check_server(host, server)
    view = {_KEYS[key]: value for key, value in params if key in _KEYS and value not in (None, False, [])}
    await change_profiles(host, lambda store: put_profile(store, params.name, view, replace=params.replace))
    return profile_json(host.settings, params.name)


_KEYS = {
    "servers": "servers",
    "tools": "tools",
    "read_only": "readOnly",
    "search": "search",
    "plain_names": "plainNames",
    "k": "k",
    "always_on": "alwaysOn",
    "approvals": "approvals",
}
"""Parameters and their keys in the config file."""


@operation(page=True)
async def profile_token(
    host: Host,
    *,
    name: str = "",
    token_hash: Annotated[str, Field(max_length=200, pattern=r"^(sha256:[0-9a-f]+:[0-9a-f]{64})?$")] = "",
    tail: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,4}$")] = "",
) -> ProfileShown:
    """Require a token for a profile; only its hash and last characters are sent here."""
    await change_profiles(host, lambda store: set_token_hash(store, name, token_hash, tail=tail))
    return profile_json(host.settings, name)


@operation(page=True)
async def profile_approvals(host: Host, *, approvals: ClientApprovals, name: str = "") -> ProfileShown:
    """Set how the clients of a profile are asked before Toolcrib's own tools send, invite or delete.

    `approvals`: in the client if it can ask, else on the page; only on the page; or not at all.
    """
    await change_profiles(host, lambda store: set_approvals(store, name, approvals))
    return profile_json(host.settings, name)


@operation(page=True)
async def profile_remove(host: Host, name: str) -> ProfileRemoved:
    """Remove a profile; its clients are disconnected and its token becomes invalid."""
    await change_profiles(host, lambda store: remove_profile(store, name))
    return {"name": name, "removed": True}


_USED = """SELECT principal, max(time), sum(CASE WHEN time >= ? THEN 1 ELSE 0 END) FROM calls
WHERE principal = 'gateway' OR principal LIKE 'gateway:%' GROUP BY principal"""


@operation(page=True)
async def view_use(host: Host) -> list[ViewUse]:
    """Show when each profile was last used, and how often today.

    In the order of `profile_list`.
    """
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)

    def look(connection: Connection) -> dict[str, tuple[int, int]]:
        rows = connection.execute(_USED, (to_stored(midnight),))
        return {principal: (last, today) for principal, last, today in rows}

    used = await host.audit.look(look)
    return [_use(name, used.get(_principal(name))) for name in ("", *host.settings.profiles)]


def _principal(name: str) -> str:
    return f"gateway:{name}" if name else "gateway"


def _use(name: str, used: tuple[int, int] | None) -> ViewUse:
    if used is None:
        return {"name": name, "today": 0, "last_call": None}
    last, today = used
    return {"name": name, "today": today, "last_call": moment(from_stored(last))}


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


def _change(wanted: PlannedEntry, file: Path, remove: bool) -> Change:
    if remove:
        change = plan_removal(wanted.client, file, ENTRY)
    else:
        change = plan_connection(wanted.client, file, ENTRY, wanted.entry)
    if change.needed:
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
        "snippet": snippet(client, ENTRY, wanted.entry),
        "afterwards": client.afterwards,
        "needs_token": wanted.needs_token,
    }


ENTRY = "toolcrib"


@dataclass(frozen=True)
class PlannedEntry:
    """The entry for a client's config file."""

    client: McpClient
    entry: dict[str, Any]
    command: str
    needs_token: bool

    @property
    def file(self) -> Any:
        return self.client.file(find_user_folders())


def planned_entry(host: Host, params: ClientParams) -> PlannedEntry:
    """Raises `NotFound` for an unknown client or profile."""
    client = find_client(params.client).here(find_user_folders())
    if params.profile and params.profile not in host.settings.profiles:
        raise unknown_profile(params.profile, host.settings.profiles)
    needs_token = params.form == "address" and bool(_token_hash(host, params.profile))
    gateway = _gateway(host, params, needs_token)
    entry = client.entry(ENTRY, gateway)
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
        return shlex.join(client.own_command(ENTRY, gateway))
    command = ["toolcrib", "connect", params.client.replace("_", "-")]
    if params.profile:
        command += ["--profile", params.profile]
    if isinstance(gateway, Address):
        command += ["--http", gateway.url]
    if needs_token:
        command.append("--token")
    return shlex.join(command)

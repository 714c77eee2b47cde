"""What the operations on clients share: which entry leads a client to this crib."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from toolcrib.config.client_files.client import Client, find_client
from toolcrib.config.client_files.gateway import HIDDEN_TOKEN, Address, Program, find_program, make_address
from toolcrib.config.client_files.places import find_places
from toolcrib.config.profiles import unknown_profile
from toolcrib.control.answers.connecting import EntryForm
from toolcrib.control.dispatch import OperationParams
from toolcrib.errors import NoHost
from toolcrib.host import Host

ENTRY = "toolcrib"


class ClientParams(OperationParams):
    """A client, and which view of the crib it is to see, by which way."""

    client: str
    profile: str = ""
    form: EntryForm = "program"


@dataclass(frozen=True)
class Wanted:
    """The entry that a client gets."""

    client: Client
    entry: dict[str, Any]
    command: str
    needs_token: bool

    @property
    def file(self) -> Any:
        """The client's own."""
        return self.client.file(find_places())


def wanted_entry(host: Host, params: ClientParams) -> Wanted:
    """The entry; raises `NotFound` for a client or a profile that is not there."""
    client = find_client(params.client).here(find_places())
    if params.profile and params.profile not in host.settings.profiles:
        raise unknown_profile(params.profile, host.settings.profiles)
    needs_token = params.form == "address" and bool(_token_hash(host, params.profile))
    gateway = _gateway(host, params, needs_token)
    entry = client.entry(ENTRY, gateway)
    return Wanted(client, entry, _command(client, params, gateway, needs_token), needs_token)


def _gateway(host: Host, params: ClientParams, needs_token: bool) -> Program | Address:
    if params.form == "program":
        return find_program(params.profile, host.paths.home)
    base = host.pages.address
    if base is None:
        raise NoHost("No gateway with an address runs.", hint="Start one with: toolcrib up")
    return make_address(base, params.profile, token=HIDDEN_TOKEN if needs_token else "")


def _token_hash(host: Host, profile: str) -> str | None:
    return host.settings.profiles[profile].token_hash if profile else host.settings.gateway.token_hash


def _command(client: Client, params: ClientParams, gateway: Program | Address, needs_token: bool) -> str:
    """The client's own command where it has one; ours asks for a token, which stands in no command."""
    if client.own_command is not None and not needs_token:
        return shlex.join(client.own_command(ENTRY, gateway))
    words = ["toolcrib", "connect", params.client.replace("_", "-")]
    if params.profile:
        words += ["--profile", params.profile]
    if isinstance(gateway, Address):
        words += ["--http", gateway.url]
    if needs_token:
        words.append("--token")
    return shlex.join(words)

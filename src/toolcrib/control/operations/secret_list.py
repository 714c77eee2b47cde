"""`secret_list`: the names of the stored secrets, where each lies and who uses it; never a value."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.secrets import SecretInfo
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import secrets_of, variables_of
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The secrets alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[SecretInfo]:
    """An array of `{name, place, servers}`: the stored ones, and those that a server refers to in vain."""
    users: dict[str, list[str]] = {}
    stored = await asyncio.to_thread(host.secrets.names)
    for server, entry in host.config.servers.items():
        kept = [name for name in variables_of(entry.raw) if name in stored]
        for name in dict.fromkeys([*secrets_of(entry.raw), *kept]):
            users.setdefault(name, []).append(server)
    return [
        {
            "name": name,
            "place": await asyncio.to_thread(host.secrets.place, name),
            "servers": users.get(name, []),
        }
        for name in sorted({*stored, *users})
    ]

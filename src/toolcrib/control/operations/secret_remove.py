"""`secret_remove`: forget a secret; servers that use it keep running until their next start."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.secrets import SecretRemoved
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import used_by
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The secret."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The secrets alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SecretRemoved:
    """`{name, removed, servers}`: the servers that still refer to it."""
    await asyncio.to_thread(host.secrets.delete, params.name)
    users = [name for name, entry in host.config.servers.items() if params.name in used_by(entry.raw)]
    return {"name": params.name, "removed": True, "servers": users}

"""`secret_set`: store a secret, and start again the servers that use it."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.control.answers.secrets import SecretStored
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.secret_use import used_by
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The secret."""

    name: str
    value: str = Field(repr=False)


def needs(params: Params, configured: Configured) -> Needs:
    """The secrets alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SecretStored:
    """`{name, place, restarted}`."""
    place = await asyncio.to_thread(host.secrets.set, params.name, params.value)
    host.models.trials.forget_failures()
    users = [name for name, entry in host.config.servers.items() if params.name in used_by(entry.raw)]
    restarted = [name for name in users if _runs(host, name)]
    await asyncio.gather(*(host.servers[name].restart() for name in restarted))
    return {"name": params.name, "place": place, "restarted": restarted}


def _runs(host: Host, name: str) -> bool:
    """True for a server that is meant to run; one that is off stays off."""
    return name in host.servers and host.servers.status(name).state != "disabled"

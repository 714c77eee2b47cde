"""`logout`: forget what a sign-in to a remote server left behind."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.servers import SignedOutOf
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A change among the secrets."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> SignedOutOf:
    """`{name, was_signed_in}`."""
    check_server(host, params.name)
    forgotten = await asyncio.to_thread(host.credentials.forget, params.name)
    if forgotten and params.name in host.servers.names():
        await host.servers[params.name].restart()
    return {"name": params.name, "was_signed_in": forgotten}

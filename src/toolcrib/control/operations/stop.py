"""`stop`: end a server and leave it off until it is started, or the host is."""

from __future__ import annotations

from toolcrib.control.answers.servers import Server
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.shapes import server_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> Server:
    """The server once nothing of it runs."""
    check_server(host, params.name)
    await host.servers[params.name].stop()
    return server_json(host.servers.status(params.name), host.caller.counts)

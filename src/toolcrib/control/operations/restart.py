"""`restart`: end a server, if it runs, and start it again with a clean slate."""

from __future__ import annotations

from toolcrib.control.answers.servers import Server
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.switching import check_startable, started
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> Server:
    """The server once it is up again; raises `ServerNotReady` with the reason when it does not come up."""
    check_startable(host, params.name)
    await host.servers[params.name].restart()
    return await started(host, params.name)

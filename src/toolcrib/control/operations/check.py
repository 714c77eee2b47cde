"""`check`: whether a server is configured, so that nobody is asked about one that is not."""

from __future__ import annotations

from toolcrib.control.answers.servers import ServerChecked
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    server: str


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ServerChecked:
    """`{server, type}`; raises `UnknownServer`. The type of a broken entry is null."""
    check_server(host, params.server)
    entry = host.config.servers.get(params.server)
    return {"server": params.server, "type": entry.type if entry else None}

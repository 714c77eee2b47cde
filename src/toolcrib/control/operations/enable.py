"""`enable`: let a server run, now and at every start."""

from __future__ import annotations

from toolcrib.control.answers.servers import Switched
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.switching import set_enabled
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Switched:
    """`{name, enabled, server}`; `server` is null where no host runs."""
    return await set_enabled(host, params.name, True)

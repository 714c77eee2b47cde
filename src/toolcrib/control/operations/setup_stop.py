"""`setup_stop`: end the work on a server, with everything that was started for it."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.setup_shapes import setup_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which it goes on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupShown:
    """How it ended; what was half installed is gone, and nothing is left running."""
    return setup_json(await host.setups.stop(params.name))

"""`setup_forget`: the outcome of the work on a server has been seen."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupForgotten
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host that keeps it."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupForgotten:
    """Nothing happens to one that is under way."""
    return {"name": params.name, "forgotten": host.setups.forget(params.name)}

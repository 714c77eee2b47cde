"""`on`: turn the master switch on; servers that are enabled start."""

from __future__ import annotations

from toolcrib.control.answers.servers import MasterSwitch
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.switching import set_master_switch
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """A change of the file."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> MasterSwitch:
    """`{enabled}`."""
    return await set_master_switch(host, True)

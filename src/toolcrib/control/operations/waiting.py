"""`waiting`: everything that waits for a person's word."""

from __future__ import annotations

from toolcrib.control.answers.waiting import Waiting
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.waiting import gather_waiting
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """Questions are asked in a host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> Waiting:
    """`{count, items}`."""
    items = await gather_waiting(host)
    return {"count": len(items), "items": items}

"""`servers`: how every server is doing."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.control.answers.servers import Server
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import EVERYTHING, Configured, Emit, Needs
from toolcrib.control.shapes import server_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """How long to wait for servers that are starting; those that take longer are shown as they are."""

    wait: float = Field(default=0.0, ge=0, le=3600)


def needs(params: Params, configured: Configured) -> Needs:
    """Really connects: a list of what is configured would say nothing."""
    return EVERYTHING


async def run(host: Host, params: Params, emit: Emit) -> list[Server]:
    """An array of servers, in the order of the file."""
    try:
        async with asyncio.timeout(params.wait):
            await host.servers.settle()
    except TimeoutError:
        pass
    return [server_json(status, host.caller.counts) for status in host.servers.statuses()]

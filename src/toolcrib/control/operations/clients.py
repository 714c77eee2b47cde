"""`clients`: the MCP clients that can be connected, which are here, and which use a crib already."""

from __future__ import annotations

import asyncio

from toolcrib.config.client_files.state import client_states
from toolcrib.control.answers.connecting import KnownClient
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The files of the clients alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[KnownClient]:
    """An array of clients."""
    states = await asyncio.to_thread(client_states)
    return [
        {
            "client": one.client,
            "title": one.title,
            "file": str(one.file),
            "found": one.found,
            "connected": one.connected,
            "names": list(one.names),
            "problem": one.problem,
        }
        for one in states
    ]

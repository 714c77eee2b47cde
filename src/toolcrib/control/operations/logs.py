"""`logs`: what a server wrote to stderr, and on request what it goes on to write."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.tailing import Tail
from toolcrib.host import Host

INTERVAL = 0.2
"""Seconds between two looks at the file."""


class Params(OperationParams):
    """The server, how many of its last lines, and whether to go on."""

    name: str
    count: int = Field(default=100, ge=0, le=100_000)
    follow: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """A log file is read whether or not its server runs."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> dict[str, Any]:
    """`{server, lines}`; when following, emits `{"line": …}` for each line and ends with its listener."""
    check_server(host, params.name)
    tail = Tail(host.paths.server_log(params.name))
    lines = await asyncio.to_thread(tail.last, params.count)
    while params.follow:
        for line in lines:
            await emit({"line": line})
        await asyncio.sleep(INTERVAL)
        lines = await asyncio.to_thread(tail.more)
    return {"server": params.name, "lines": lines}

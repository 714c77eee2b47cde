"""`logs`: what a server wrote to stderr, and on request what it goes on to write."""

from __future__ import annotations

import asyncio

from pydantic import Field

from toolcrib.control.answers.servers import LogBatch, LogLine, LogLines
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.tailing import Tail
from toolcrib.host import Host

FOR_PAGES = True

INTERVAL = 0.2
"""Seconds between two looks at the file."""
AT_ONCE = 5_000
"""Lines of one batch, so that no listener has to take in a whole log at one go."""

Event = LogLine | LogBatch


class Params(OperationParams):
    """The server, how many of its last lines, and whether to go on; `batch` tells of many lines at once."""

    name: str
    count: int = Field(default=100, ge=0, le=100_000)
    follow: bool = False
    batch: bool = False


def needs(params: Params, configured: Configured) -> Needs:
    """A log file is read whether or not its server runs."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> LogLines:
    """`{server, lines}`; when following, emits `{"line": …}` for each line and ends with its listener.

    In batches it emits `{"lines": […]}`, the first time also when there is none yet.
    """
    check_server(host, params.name)
    tail = Tail(host.paths.server_log(params.name))
    lines = await asyncio.to_thread(tail.last, params.count)
    if params.follow and params.batch and not lines:
        await emit({"lines": []})
    while params.follow:
        await _tell(lines, params.batch, emit)
        await asyncio.sleep(INTERVAL)
        lines = await asyncio.to_thread(tail.more)
    return {"server": params.name, "lines": lines}


async def _tell(lines: list[str], batch: bool, emit: Emit) -> None:
    if batch:
        for start in range(0, len(lines), AT_ONCE):
            await emit({"lines": lines[start : start + AT_ONCE]})
        return
    for line in lines:
        await emit({"line": line})

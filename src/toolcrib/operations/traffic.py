"""The protocol's messages of a server: record them while somebody looks, show them, drop them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from toolcrib.host import Host
from toolcrib.operations.lookup import check_server
from toolcrib.operations.operation import RUNNING, operation
from toolcrib.operations.results.servers import ServerTraffic, TrafficState


@operation(page=True, needs=RUNNING)
async def traffic_record(host: Host, name: str, *, on: bool) -> TrafficState:
    """Begin or end recording the messages between this host and a server; they stay in memory.

    A recording ends by itself five minutes after `traffic` was last asked for.
    """
    check_server(host, name)
    host.core.traffic.record(name, on)
    return {"server": name, "recording": on}


@operation(page=True, needs=RUNNING)
async def traffic(host: Host, name: str, *, after: Annotated[int, Field(ge=0)] = 0) -> ServerTraffic:
    """Show the recorded messages of a server after this number; a recording then goes on.

    Secrets that Toolcrib knows or recognizes are masked; other private data is not.
    """
    check_server(host, name)
    found = host.core.traffic.look(name)
    return {
        "server": name,
        "recording": name in host.core.traffic.active,
        "oldest": 1 if found is None else found.oldest,
        "skipped": 0 if found is None else found.skipped,
        "messages": [] if found is None else [one for one in found.messages if one.number > after],
    }


@operation(page=True, needs=RUNNING)
async def traffic_clear(host: Host, name: str) -> TrafficState:
    """Drop the recorded messages of a server; a recording goes on."""
    check_server(host, name)
    found = host.core.traffic.look(name)
    if found is not None:
        found.clear()
    return {"server": name, "recording": name in host.core.traffic.active}

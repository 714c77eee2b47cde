"""What the scan of tool definitions found, for those who decide about a server."""

from __future__ import annotations

from toolcrib.host import Host
from toolcrib.schema.tools import Tool


def found_in(host: Host, tool: Tool) -> list[str]:
    """What is suspicious in a tool's definition, one sentence each."""
    from toolcrib.tools.scanner import scan

    beside = host.registry.snapshot.by_server.get(tool.server, ())
    own = {one.definition.name for one in beside} | {one.name for one in beside}
    return scan(tool.definition.raw, own=own, others=host.names_beside(tool.server or ""))


def found_in_server(host: Host, server: str) -> list[str]:
    """The same for all tools that a server lists, each with the tool's name."""
    tools = host.registry.snapshot.by_server.get(server, ())
    return [f"{tool.name}: careful: {finding}" for tool in tools for finding in found_in(host, tool)]

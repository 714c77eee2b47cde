"""`toolcrib serve`: offer all tools as one MCP server."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import declare, repeatable
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option(
    "--stdio", is_flag=True, help="Serve over stdin and stdout, for a client that starts this command."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 for any free port.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; others than loopback require tokens.",
)
@repeatable("--allowed-host", "hosts", metavar="NAME", help="Accept this host name in requests; repeatable.")
@click.option("--profile", default="", metavar="NAME", help="Serve only this profile of the config file.")
@repeatable("--server", "servers", metavar="NAME", help="Offer only its tools; repeatable.")
@repeatable("--tool", "tools", metavar="PATTERN", help="Offer only these tools; repeatable.")
@click.option("--read-only", is_flag=True, help="Offer only read-only tools.")
@click.option("--search", is_flag=True, help="Offer search tools instead of the full list.")
@click.option("--plain-names", is_flag=True, help="Use the servers' own tool names where they are unique.")
def command(surface: Surface, stdio: bool, port: int, host: str, hosts: tuple[str, ...], **asked: Any) -> int:
    """Offer all tools as one MCP server, until Ctrl-C.

    Over HTTP it prints its address; with --json, one line {"url", "pid"}. With --stdio, a client starts it.

    Each profile of the config file is served at /mcp/NAME, unless the options select a part.
    """
    from toolcrib.cli.gateway_process import HttpAddress, serve_gateway
    from toolcrib.gateway.profile import Profile

    profile = Profile(name=asked.pop("profile"), **asked)
    address = None if stdio else HttpAddress(host=host, port=port, allowed_hosts=hosts)
    return serve_gateway(surface, profile, address)

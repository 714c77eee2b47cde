"""`toolcrib serve`: the crib as one MCP server."""

from __future__ import annotations

import click

from toolcrib.cli.declaring import declare
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--stdio", is_flag=True, help="Speak on stdin and stdout, for a client that starts us.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1; 0 for any free one.")
@click.option("--profile", default="", metavar="NAME", help="A view of the crib, from the config file.")
@click.option("--server", "servers", multiple=True, metavar="NAME", help="Show only its tools; repeatable.")
@click.option("--tool", "tools", multiple=True, metavar="PATTERN", help="Show only these; repeatable.")
@click.option("--read-only", is_flag=True, help="Show only tools that declare to change nothing.")
@click.option("--search", is_flag=True, help="Show three tools to search with, instead of all.")
def command(
    surface: Surface,
    stdio: bool,
    port: int,
    profile: str,
    servers: tuple[str, ...],
    tools: tuple[str, ...],
    read_only: bool,
    search: bool,
) -> int:
    """Offer every tool of the crib as one MCP server, until Ctrl-C.

    Over HTTP it prints its address; with --json, one line {"url", "pid"}. With --stdio, a client starts it.
    """
    from toolcrib.cli.serving import serve_gateway
    from toolcrib.gateway.profile import Profile

    asked = Profile(name=profile, servers=servers, tools=tools, read_only=read_only, search=search)
    return serve_gateway(surface, asked, stdio=stdio, port=port)

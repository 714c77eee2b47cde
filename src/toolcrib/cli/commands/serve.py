"""`toolcrib serve`: the crib as one MCP server."""

from __future__ import annotations

from typing import Any

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.surface import Surface


@declare("Host")
@click.option("--stdio", is_flag=True, help="Speak on stdin and stdout, for a client that starts us.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 for any that is free.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Others only where tokens are needed.")
@click.option("--allowed-host", "hosts", multiple=True, metavar="NAME", help="We are called so; repeatable.")
@click.option("--profile", default="", metavar="NAME", help="Only this view, from the config file.")
@click.option("--server", "servers", multiple=True, metavar="NAME", help="Show only its tools; repeatable.")
@click.option("--tool", "tools", multiple=True, metavar="PATTERN", help="Show only these; repeatable.")
@click.option("--read-only", is_flag=True, help="Show only tools that declare to change nothing.")
@click.option("--search", is_flag=True, help="Show three tools to search with, instead of all.")
@click.option("--plain-names", is_flag=True, help="Show the servers' own names where these are clear.")
def command(surface: Surface, stdio: bool, port: int, host: str, hosts: tuple[str, ...], **asked: Any) -> int:
    """Offer every tool of the crib as one MCP server, until Ctrl-C.

    Over HTTP it prints its address; with --json, one line {"url", "pid"}. With --stdio, a client starts it.

    Each profile of the config file has a path of its own, /mcp/NAME, unless a part was asked for.
    """
    from toolcrib.cli.gateway_process import Place, serve_gateway
    from toolcrib.gateway.profile import Profile

    profile = Profile(name=asked.pop("profile"), **asked)
    place = None if stdio else Place(host=host, port=port, allowed_hosts=hosts)
    return serve_gateway(surface, profile, place)

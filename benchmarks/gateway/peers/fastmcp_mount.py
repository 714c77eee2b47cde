"""fastmcp's mounts: one server, with a proxy on a kept connection mounted for each of those behind it."""

from __future__ import annotations

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.peers import fastmcp_proxy

TITLE = "fastmcp mount"
SPEAKS: tuple[Way, ...] = ("2025-11-25", "2026-07-28")
# Without mode="auto" it shows a modern client nothing of an older server.
PROGRAM = """
import json, sys
from fastmcp import FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
gateway = FastMCP("gateway")
for name, entry in json.load(open("servers.json"))["mcpServers"].items():
    kept = StdioTransport(entry["command"], entry["args"], keep_alive=True)
    gateway.mount(create_proxy(kept, name=name, mode="auto"), namespace=name)
gateway.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="warning")
"""
install = fastmcp_proxy.install
url = fastmcp_proxy.url


def launch(site: Site) -> list[Launch]:
    """As its documentation shows it."""
    return fastmcp_proxy.run(site, PROGRAM)


def tool(site: Site, server: str, tool: str) -> str:
    """Always with the server's name."""
    return f"{server}_{tool}"

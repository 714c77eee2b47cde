"""1MCP (npm): merges its servers behind one endpoint."""

from __future__ import annotations

import json

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import node_program, npm_package

TITLE = "1mcp"
SPEAKS: tuple[Way, ...] = ("2025-11-25",)


def install() -> None:
    """From its pins."""
    npm_package("1mcp", "@1mcp/agent")


def launch(site: Site) -> list[Launch]:
    """One process for all servers."""
    config = site.folder / "servers.json"
    config.write_text(json.dumps(site.config))
    program = node_program(npm_package("1mcp", "@1mcp/agent") / "build" / "index.js")
    where = ["--transport", "http", "--host", "127.0.0.1", "--port", str(site.port)]
    return [Launch([*program, "serve", *where, "--config", str(config)])]


def url(site: Site, server: str) -> str:
    """One endpoint for all."""
    return f"http://127.0.0.1:{site.port}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """Always with the server's name."""
    return f"{server}_1mcp_{tool}"

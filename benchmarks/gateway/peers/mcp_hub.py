"""mcp-hub (npm): merges its servers behind one endpoint, over the SSE transport."""

from __future__ import annotations

import json

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import node_program, npm_package

TITLE = "mcp-hub"
SPEAKS: tuple[Way, ...] = ("sse",)


def install() -> None:
    """From its pins."""
    npm_package("mcp-hub", "mcp-hub")


def launch(site: Site) -> list[Launch]:
    """One process for all servers."""
    config = site.folder / "servers.json"
    config.write_text(json.dumps(site.config))
    program = node_program(npm_package("mcp-hub", "mcp-hub") / "dist" / "cli.js")
    return [Launch([*program, "--port", str(site.port), "--config", str(config)])]


def url(site: Site, server: str) -> str:
    """One endpoint for all."""
    return f"http://127.0.0.1:{site.port}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """Always with the server's name."""
    return f"{server}__{tool}"

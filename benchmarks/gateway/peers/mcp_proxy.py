"""mcp-proxy (PyPI): one endpoint for each server."""

from __future__ import annotations

import json

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import python_environment

TITLE = "mcp-proxy"
SPEAKS: tuple[Way, ...] = ("2025-11-25",)


def install() -> None:
    """From its pins."""
    python_environment("mcp-proxy")


def launch(site: Site) -> list[Launch]:
    """One process for all servers."""
    config = site.folder / "servers.json"
    config.write_text(json.dumps(site.config))
    program = str(python_environment("mcp-proxy") / "mcp-proxy")
    where = ["--host", "127.0.0.1", "--port", str(site.port)]
    return [Launch([program, *where, "--log-level", "WARNING", "--named-server-config", str(config)])]


def url(site: Site, server: str) -> str:
    """It does not merge."""
    return f"http://127.0.0.1:{site.port}/servers/{server}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """The name its server gave it."""
    return tool

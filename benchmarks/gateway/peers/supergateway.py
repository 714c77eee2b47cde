"""supergateway (npm): one process for each server, and one copy of the server for each client."""

from __future__ import annotations

import shlex

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import node_program, npm_package

TITLE = "supergateway"
SPEAKS: tuple[Way, ...] = ("2025-11-25",)


def install() -> None:
    """From its pins."""
    npm_package("supergateway", "supergateway")


def launch(site: Site) -> list[Launch]:
    """It takes one server only, so there are as many of it."""
    program = node_program(npm_package("supergateway", "supergateway") / "dist" / "index.js")
    form = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"]
    return [
        Launch([*program, *form, "--port", str(site.port + number), "--stdio", shlex.join(server.command)])
        for number, server in enumerate(site.servers)
    ]


def url(site: Site, server: str) -> str:
    """It does not merge."""
    number = [one.name for one in site.servers].index(server)
    return f"http://127.0.0.1:{site.port + number}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """The name its server gave it."""
    return tool

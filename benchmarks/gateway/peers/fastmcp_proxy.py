"""fastmcp's proxy: one server made from a configuration."""

from __future__ import annotations

import json

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import python_environment

TITLE = "fastmcp proxy"
SPEAKS: tuple[Way, ...] = ("2025-11-25", "2026-07-28")
QUIET = {"FASTMCP_LOG_LEVEL": "WARNING", "FASTMCP_CHECK_FOR_UPDATES": "off"}
# Without mode="auto" a modern client reaches no older server.
PROGRAM = """
import json, sys
from fastmcp.server import create_proxy
proxy = create_proxy(json.load(open("servers.json")), name="gateway", mode="auto")
proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="warning")
"""


def install() -> None:
    """From its pins."""
    python_environment("fastmcp")


def launch(site: Site) -> list[Launch]:
    """As its documentation shows it."""
    return run(site, PROGRAM)


def run(site: Site, program: str) -> list[Launch]:
    """This program in fastmcp's environment, with the servers in a file beside it."""
    (site.folder / "servers.json").write_text(json.dumps(site.config))
    (site.folder / "gateway.py").write_text(program)
    python = str(python_environment("fastmcp") / "python")
    return [Launch([python, "gateway.py", str(site.port)], QUIET)]


def url(site: Site, server: str) -> str:
    """One endpoint for all."""
    return f"http://127.0.0.1:{site.port}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """With the server's name when there are several."""
    return tool if len(site.servers) == 1 else f"{server}_{tool}"

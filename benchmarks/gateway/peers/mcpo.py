"""mcpo (PyPI): tools as REST endpoints, for Open WebUI."""

from __future__ import annotations

import json

from benchmarks.gateway.contract import Launch, Site, Way
from benchmarks.gateway.installing import python_environment

TITLE = "mcpo (REST)"
SPEAKS: tuple[Way, ...] = ("rest",)


def install() -> None:
    """From its pins."""
    python_environment("mcpo")


def launch(site: Site) -> list[Launch]:
    """One process for all servers."""
    config = site.folder / "servers.json"
    config.write_text(json.dumps(site.config))
    program = str(python_environment("mcpo") / "mcpo")
    where = ["--host", "127.0.0.1", "--port", str(site.port)]
    return [Launch([program, *where, "--config", str(config), "--log-level", "WARNING"])]


def url(site: Site, server: str) -> str:
    """Each server has a description of its own there."""
    return f"http://127.0.0.1:{site.port}/{server}"


def tool(site: Site, server: str, tool: str) -> str:
    """The path below the server's."""
    return tool

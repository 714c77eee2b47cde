"""Ours: `toolcrib serve` on a home of its own, recording every call as always."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.gateway.contract import Launch, Site, Way

TITLE = "toolcrib"
SPEAKS: tuple[Way, ...] = ("2025-11-25", "2026-07-28")


def install() -> None:
    """It is what runs this."""


def launch(site: Site) -> list[Launch]:
    """As a user would start it, who has once approved what it runs."""
    return [Launch([*trust(site), "serve", "--port", str(site.port), "--json"])]


def trust(site: Site) -> list[str]:
    """Write the config and approve its servers; returns the command that runs toolcrib with it."""
    (site.folder / "mcp.json").write_text(json.dumps(site.config))
    toolcrib = [sys.executable, "-m", "toolcrib", "--home", str(site.folder)]
    subprocess.run(
        [*toolcrib, "trust", "--yes"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    return toolcrib


def url(site: Site, server: str) -> str:
    """One endpoint for all."""
    return f"http://127.0.0.1:{site.port}/mcp"


def tool(site: Site, server: str, tool: str) -> str:
    """Always with the server's name."""
    return f"{server}__{tool}"

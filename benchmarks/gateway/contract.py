"""What a gateway under test offers: how it is installed and started, and how its tools are named.

A module of `benchmarks/gateway/peers/` has

* `TITLE`, its name in the table,
* `SPEAKS`, the ways a client may talk to it: `"2025-11-25"` and `"2026-07-28"` (streamable HTTP), `"sse"`
  (the transport before), `"rest"`,
* `install()`, which puts it in place and raises `InstallFailed` when that cannot be done,
* `launch(site)`, the commands that start it in front of `site.servers`,
* `url(site, server)`, where a server's tools are found; the same for all when it merges them,
* `tool(site, server, tool)`, what it calls a server's tool.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

HERE = Path(__file__).parent
BACKING = str(HERE / "backing_server.py")
"""The server behind every gateway; the path in a command line tells its processes from the gateway's own."""
Way = Literal["2025-11-25", "2026-07-28", "sse", "rest"]
MODERN: Way = "2026-07-28"


@dataclass(frozen=True)
class Server:
    """One small server: its name and its options."""

    name: str
    options: tuple[str, ...] = ()

    @property
    def command(self) -> list[str]:
        """What starts it."""
        return [sys.executable, "-I", BACKING, self.name, *self.options]


@dataclass(frozen=True)
class Site:
    """Where a gateway runs: a folder of its own, a free port, and the servers it is to offer."""

    folder: Path
    port: int
    servers: tuple[Server, ...]

    @property
    def config(self) -> dict[str, Any]:
        """The servers as most programs want to be told of them."""
        commands = {server.name: server.command for server in self.servers}
        return {
            "mcpServers": {name: {"command": line[0], "args": line[1:]} for name, line in commands.items()}
        }


@dataclass(frozen=True)
class Launch:
    """A command of a gateway, and what its environment needs."""

    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)


class Peer(Protocol):
    """A module of the folder."""

    TITLE: str
    SPEAKS: tuple[Way, ...]

    def install(self) -> None:
        """Put it in place, unless it is."""

    def launch(self, site: Site) -> list[Launch]:
        """What starts it."""

    def url(self, site: Site, server: str) -> str:
        """Where this server's tools are found."""

    def tool(self, site: Site, server: str, tool: str) -> str:
        """What this tool is called there."""

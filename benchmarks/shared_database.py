"""The cost of a call through the gateway on SQLite and on PostgreSQL, in turns.

python -m benchmarks database [--rounds N]

On PostgreSQL a call is answered once its record is durable; on SQLite records are written within 50 ms.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import uvloop

from benchmarks.gateway.cases import calls
from benchmarks.gateway.contract import Launch, Peer, Site, Way
from benchmarks.gateway.peers import toolcrib
from tests.databases.postgres import running_postgres

COLUMNS = (
    ("CPU/call", "ms", "cpu_ms", 3),
    ("p50", "ms", "p50_ms", 3),
    ("32 in flight", "/s", "per_second", 0),
    ("calls", "/CPU s", "per_cpu_second", 0),
)


@dataclass
class OnDatabase:
    """The gateway with one value of the setting `database`."""

    database: str
    TITLE: str = "toolcrib"
    SPEAKS: tuple[Way, ...] = ("2026-07-28",)

    def install(self) -> None:
        """Both are part of this environment."""

    def launch(self, site: Site) -> list[Launch]:
        command = toolcrib.trust(site)
        document = {**site.config, "toolcrib": {"database": self.database}}
        (site.folder / "mcp.json").write_text(json.dumps(document))
        serve = [*command, "serve", "--port", str(site.port), "--json"]
        return [Launch(serve, {"TOOLCRIB_TRUST_CONFIG": "1"})]

    def url(self, site: Site, server: str) -> str:
        return toolcrib.url(site, server)

    def tool(self, site: Site, server: str, tool: str) -> str:
        return toolcrib.tool(site, server, tool)


def measure(rounds: int) -> dict[str, Any]:
    """Both databases in the same run; PostgreSQL flushes every commit to the disk."""
    with running_postgres(durable=True) as server:
        peers: dict[str, Peer] = {"sqlite": OnDatabase(""), "postgresql": OnDatabase(server.url())}
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            results = runner.run(calls.measure(peers, rounds))
    return {name: _figures(measured) for name, measured in results.items()}


def _figures(measured: dict[str, Any]) -> dict[str, Any]:
    figures = measured.get("2026-07-28")
    if figures is None:
        return measured
    return {**figures, "per_cpu_second": 1e3 / figures["busy_cpu_ms"]}


def table(results: dict[str, Any]) -> str:
    """One line for each database."""
    lines = [_row("", [title for title, *_ in COLUMNS]), _row("", [unit for _, unit, *_ in COLUMNS])]
    for name, figures in results.items():
        if "problem" in figures:
            lines.append(f"{name}: {figures['problem']}")
        else:
            lines.append(_row(name, [f"{figures[key]:,.{digits}f}" for *_, key, digits in COLUMNS]))
    return "\n".join(lines)


def _row(title: str, cells: list[str]) -> str:
    return f"{title:14}" + "".join(f"{cell:>14}" for cell in cells)

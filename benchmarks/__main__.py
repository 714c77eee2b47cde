"""All measurements in one run: `make bench`. Writes `benchmarks/results/latest.json`.

python -m benchmarks [PART]... [--rounds N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import agent, call, fleet, neighbours, planner, shared_database, start
from benchmarks.desktop import suite as desktop
from benchmarks.gateway import suite as gateway
from benchmarks.gateway.table import table
from benchmarks.http_server import compare as http_server
from benchmarks.pages import suite as pages
from benchmarks.workflows import suite as workflows

RESULTS = Path(__file__).with_name("results") / "latest.json"
TITLES = {
    "call": "A call over stdio",
    "http": "A call over streamable HTTP",
    "fleet": "Starting a host",
    "start": "Starting an installed server",
    "gateway": "Gateways",
    "http-server": "The gateway's HTTP server and uvicorn",
    "agent": "A round of the agent",
    "pages": "Text of web pages",
    "desktop": "Desktop servers",
    "database": "The gateway on SQLite and on PostgreSQL",
    "neighbours": "A server beside one that floods",
    "workflows": "Nodes of workflows",
    "planner": "Planned workflows",
}
PARTS = tuple(TITLES)


def main() -> None:
    """Measure what was asked for, show it, keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}; all when none")
    parser.add_argument("--rounds", type=int, default=20, help="blocks of each contender (default 20)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of tables")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    results: dict[str, Any] = {"machine": describe_machine()}
    for part in options.parts or PARTS:
        results[part], shown = run(part, options.rounds)
        if not options.json:
            print(f"\n{TITLES[part]}\n{shown}", flush=True)
    text = json.dumps(results, indent=2)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text + "\n")
    print(text if options.json else f"\nKept in {RESULTS.relative_to(Path.cwd())}")


def run(part: str, rounds: int) -> tuple[Any, str]:
    """The numbers of one part, and how they are shown."""
    if part == "fleet":
        started = fleet.measure(max(3, rounds // 4))
        return started, fleet.table(started)
    if part == "start":
        installed = start.measure(max(3, rounds // 4))
        return installed, start.table(installed)
    if part == "gateway":
        gateways = gateway.measure(rounds)
        return gateways, table(gateways)
    if part == "http-server":
        servers = http_server.measure(rounds)
        return servers, http_server.table(servers)
    if part == "agent":
        rounds_of = agent.measure()
        return rounds_of, agent.table(rounds_of)
    if part == "neighbours":
        beside = dict(neighbours.measure(rounds * 100))
        return beside, neighbours.table(beside)
    if part == "pages":
        extracted = pages.measure(max(3, rounds // 4))
        return extracted, pages.table(extracted)
    if part == "desktop":
        servers_of_desktops = desktop.measure(max(1, rounds // 10))
        return servers_of_desktops, desktop.table(servers_of_desktops)
    if part == "database":
        databases = shared_database.measure(rounds)
        return databases, shared_database.table(databases)
    if part == "workflows":
        nodes = workflows.measure(rounds=max(2, rounds // 7))
        return nodes, workflows.table(nodes)
    if part == "planner":
        planned = planner.measure()
        return planner.summary(planned), "\n".join(planned.rows())
    scores = call.measure("http" if part == "http" else "stdio", rounds)
    return [score.summary() for score in scores], call.table(scores)


def describe_machine() -> dict[str, Any]:
    """What the numbers were measured on; the load tells whether they can be trusted."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "versions": {name: _version(name) for name in ("toolcrib", "mcp", "fastmcp", "uvloop", "uvicorn")},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()

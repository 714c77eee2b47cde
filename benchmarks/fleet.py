"""A host with fifty servers, five of them broken in different ways: when is the first tool callable?

    python -m benchmarks.fleet [--rounds N] [--json]

The time to the first call is held against that of a host with one server only: the fastest there can be. Each
start is a fresh process, so that nothing is warm; the fleets take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import toolcrib

ROOT = Path(__file__).parents[1]
SERVER = Path(__file__).with_name("tiny_server.py")
BROKEN = ("exits", "hangs", "rambles", "dies-listing")
SIZE = 50
ALONE, SPREAD, FIRST = "one server", "50, 5 broken among them", "50, 5 broken come first"
START_TIMEOUT = 20
DEADLINE = 120


def servers(fleet: str) -> dict[str, Any]:
    """`mcpServers` of this fleet."""
    good = {"command": sys.executable, "args": ["-I", str(SERVER)], "timeouts": {"start": START_TIMEOUT}}
    if fleet == ALONE:
        return {"good0": good}
    bad: dict[str, Any] = {"missing": {"command": "toolcrib-no-such-program"}}
    bad |= {kind: {**good, "args": ["-I", str(SERVER), "--broken", kind]} for kind in BROKEN}
    entries = [(f"good{number}", good) for number in range(SIZE - len(bad))]
    for number, entry in enumerate(bad.items()):
        entries.insert(number if fleet == FIRST else number * SIZE // len(bad) + SIZE // len(bad) // 2, entry)
    return dict(entries)


async def start(fleet: str) -> dict[str, Any]:
    """Open a host in this process and say when what was possible."""
    from toolcrib import open_host

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        entries = servers(fleet)
        (home / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
        good = [name for name in entries if name.startswith("good")]
        began = time.perf_counter()
        async with asyncio.timeout(DEADLINE), open_host(home=home, only=list(entries)) as host:
            tool = await _first_tool(host, good)
            await host.call(tool, {"text": "hello"})
            first = time.perf_counter() - began
            await asyncio.gather(*(host.servers[name].settled() for name in good))
            ready = time.perf_counter() - began
            states = {name: str(host.servers.status(name).state) for name in good}
            assert set(states.values()) == {"ready"}, states
            return {"first_call_s": first, "all_good_ready_s": ready, "host_rss_mb": _resident_megabytes()}


async def _first_tool(host: toolcrib.Host, good: Sequence[str]) -> str:
    """The name of the first `echo` that can be called."""
    with host.events.subscribe() as events:
        while True:
            for tool in host.tools():
                if tool.server in good and tool.definition.name == "echo":
                    return tool.name
            await events.next()


def _resident_megabytes() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
    return int(found[1]) / 1024 if found else 0.0


def measure(rounds: int) -> dict[str, Any]:
    """Each fleet in turn; medians, and the times of the first call against that of one server."""
    runs: dict[str, list[dict[str, Any]]] = {ALONE: [], SPREAD: [], FIRST: []}
    for _ in range(rounds):
        for fleet, seen in runs.items():
            seen.append(_in_fresh_process(fleet))
    return {
        fleet: {key: statistics.median(run[key] for run in seen) for key in seen[0]}
        for fleet, seen in runs.items()
    }


def _in_fresh_process(fleet: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.fleet", "--start", fleet]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The host with {fleet} failed:\n{done.stderr[-3000:]}")
    return dict(json.loads(done.stdout))


def table(result: dict[str, Any]) -> str:
    """For people."""
    lines = [f"{'':26}{'first call':>12}{'/one':>8}{'all ready':>12}{'host RSS':>12}"]
    for fleet, run in result.items():
        ratio = run["first_call_s"] / result[ALONE]["first_call_s"]
        first, ready, memory = run["first_call_s"], run["all_good_ready_s"], run["host_rss_mb"]
        lines.append(f"{fleet:26}{first:10.3f} s{ratio:8.2f}{ready:10.3f} s{memory:9.1f} MB")
    return "\n".join(lines)


def main() -> None:
    """Measure and show, or be one start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="every number, for programs")
    parser.add_argument("--start", metavar="FLEET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        print(json.dumps(asyncio.run(start(options.start))))
        return
    result = measure(options.rounds)
    print(json.dumps(result) if options.json else table(result))


if __name__ == "__main__":
    main()

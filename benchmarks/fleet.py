"""A host with fifty servers, five of them broken in different ways: when is the first tool callable?

    python -m benchmarks.fleet [--rounds N] [--json]

The time to the first call is held against that of a host with one server only: the fastest there can be. The
good servers are either the smallest there is, so that all the host does shows, or written with the official
SDK, as most are. Each start is a fresh process in a new home, where nothing is known; the fleets take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import toolcrib

ROOT = Path(__file__).parents[1]
TINY = ("-I", str(Path(__file__).with_name("tiny_server.py")))
USUAL = (str(Path(__file__).with_name("sdk_server.py")),)
BROKEN = ("exits", "hangs", "rambles", "dies-listing")
SIZE = 50
START_TIMEOUT = 60
DEADLINE = 120


@dataclass(frozen=True)
class Fleet:
    """Fifty servers or one; the broken ones stand at the top of the file or are spread over it."""

    server: tuple[str, ...]
    alone: bool = False
    broken_first: bool = False

    def servers(self) -> dict[str, Any]:
        """Its `mcpServers`."""
        good = _entry(*self.server)
        if self.alone:
            return {"good0": good}
        bad: dict[str, Any] = {"missing": {"command": "toolcrib-no-such-program"}}
        bad |= {kind: _entry(*TINY, "--broken", kind) for kind in BROKEN}
        entries = [(f"good{number}", good) for number in range(SIZE - len(bad))]
        apart = SIZE // len(bad)
        for number, entry in enumerate(bad.items()):
            entries.insert(number if self.broken_first else number * apart + apart // 2, entry)
        return dict(entries)


FLEETS = {
    "tiny, one": Fleet(TINY, alone=True),
    "tiny, 50 with 5 broken": Fleet(TINY),
    "tiny, 50, broken first": Fleet(TINY, broken_first=True),
    "usual, one": Fleet(USUAL, alone=True),
    "usual, 50 with 5 broken": Fleet(USUAL),
    "usual, 50, broken first": Fleet(USUAL, broken_first=True),
}


def _entry(*arguments: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": list(arguments), "timeouts": {"start": START_TIMEOUT}}


async def start(fleet: Fleet) -> dict[str, Any]:
    """Open a host in this process and say when what was possible; the usual servers only until the first."""
    from toolcrib import open_host

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        entries = fleet.servers()
        (home / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
        good = [name for name in entries if name.startswith("good")]
        began = time.perf_counter()
        async with (
            asyncio.timeout(DEADLINE),
            open_host(home=home, only=list(entries), trust_config=True) as host,
        ):
            tool = await _first_tool(host, good)
            await host.call(tool, {"text": "hello"})
            first = time.perf_counter() - began
            if fleet.server == USUAL:
                return {"first_call_s": first, "all_good_ready_s": None, "host_rss_mb": _resident_megabytes()}
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
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in FLEETS}
    for _ in range(rounds):
        for name, seen in runs.items():
            seen.append(_in_fresh_process(name))
    return {
        name: {key: None if seen[0][key] is None else median(run[key] for run in seen) for key in seen[0]}
        for name, seen in runs.items()
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
    for name, run in result.items():
        one = next(other for other in FLEETS if FLEETS[other] == Fleet(FLEETS[name].server, alone=True))
        ratio = run["first_call_s"] / result[one]["first_call_s"]
        first, ready, memory = run["first_call_s"], run["all_good_ready_s"], run["host_rss_mb"]
        shown = "" if ready is None else f"{ready:.3f} s"
        lines.append(f"{name:26}{first:10.3f} s{ratio:8.2f}{shown:>12}{memory:9.1f} MB")
    return "\n".join(lines)


def main() -> None:
    """Measure and show, or be one start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="every number, for programs")
    parser.add_argument("--start", metavar="FLEET", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        print(json.dumps(asyncio.run(start(FLEETS[options.start]))))
        return
    result = measure(options.rounds)
    print(json.dumps(result) if options.json else table(result))


if __name__ == "__main__":
    main()

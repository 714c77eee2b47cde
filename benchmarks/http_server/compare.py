"""CPU, latency, throughput, memory and instructions of a `tools/call` through both HTTP servers.

python -m benchmarks http-server [--rounds N]
"""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.gateway.cases import calls
from benchmarks.gateway.client import connect
from benchmarks.gateway.contract import MODERN, Launch, Peer, Server, Site, Way
from benchmarks.gateway.peers import toolcrib
from benchmarks.gateway.running import Gateway, running

ROOT = Path(__file__).parents[2]
COUNTS = (200, 1200)
"""Calls of the two runs under valgrind; the difference is free of start-up."""
READY = 300.0


@dataclass
class Variant:
    """The gateway behind one HTTP server; `wrapper` starts its process under another program."""

    name: str
    wrapper: tuple[str, ...] = ()
    TITLE: str = "toolcrib"
    SPEAKS: tuple[Way, ...] = ("2025-11-25", "2026-07-28")

    def install(self) -> None:
        """Both are installed with this environment."""

    def launch(self, site: Site) -> list[Launch]:
        toolcrib.trust(site)
        program = [sys.executable, "-m", "benchmarks.http_server.serve", self.name]
        places = ["--home", str(site.folder), "--port", str(site.port)]
        return [Launch([*self.wrapper, *program, *places], {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"})]

    def url(self, site: Site, server: str) -> str:
        return toolcrib.url(site, server)

    def tool(self, site: Site, server: str, tool: str) -> str:
        return toolcrib.tool(site, server, tool)


NAMES = ("own", "uvicorn")


def measure(rounds: int) -> dict[str, Any]:
    """Both servers in turns; then the instructions of each, if valgrind is installed."""
    peers: dict[str, Peer] = {name: Variant(name) for name in NAMES}
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        results = runner.run(calls.measure(peers, rounds))
        if shutil.which("valgrind"):
            for name in NAMES:
                for way in ("2025-11-25", MODERN):
                    results[name][way]["instructions"] = runner.run(_instructions(name, way))
    return results


async def _instructions(name: str, way: Way) -> float:
    """Instructions of one call: the difference between a long and a short run."""
    few, many = COUNTS
    return (await _total(name, way, many) - await _total(name, way, few)) / (many - few)


async def _total(name: str, way: Way, count: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "valgrind"
        wrapper = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
        variant = Variant(name, (*wrapper, f"--log-file={log}"))
        async with running(variant, [Server(calls.SERVER)]) as gateway:
            await gateway.until_callable([calls.SERVER], READY)
            async with connect(way, variant.url(gateway.site, calls.SERVER)) as client:
                for _ in range(count):
                    await client.call(gateway.tool(calls.SERVER, "echo"), {"text": "hello"})
            await asyncio.to_thread(_stop, gateway)
        found = re.search(r"I\s+refs:\s+([\d,]+)", log.read_text())
        assert found is not None, "valgrind wrote no total"
        return int(found[1].replace(",", ""))


def _stop(gateway: Gateway) -> None:
    """Valgrind writes its total when the process ends by itself."""
    for process in gateway.processes:
        process.send_signal(signal.SIGTERM)
    for process in gateway.processes:
        process.wait(60)


COLUMNS = (
    ("CPU/call", "ms", "cpu_ms", 3),
    ("p50", "ms", "p50_ms", 3),
    ("32 in flight", "/s", "per_second", 0),
    ("CPU then", "ms", "busy_cpu_ms", 3),
    ("memory", "MB", "memory_mb", 1),
    ("instructions", "/call", "instructions", 0),
)


def table(results: dict[str, Any]) -> str:
    """One line for each server and protocol version."""
    lines = [_row("", [title for title, *_ in COLUMNS]), _row("", [unit for _, unit, *_ in COLUMNS])]
    for name, measured in results.items():
        if "problem" in measured:
            lines.append(f"{name}: {measured['problem']}")
        for way, figures in measured.items():
            if isinstance(figures, dict):
                cells = [
                    f"{figures[key]:,.{digits}f}" if key in figures else "–" for *_, key, digits in COLUMNS
                ]
                lines.append(_row(f"{name} {way}", cells))
    return "\n".join(lines)


def _row(title: str, cells: Sequence[str]) -> str:
    return f"{title:22}" + "".join(f"{cell:>14}" for cell in cells)

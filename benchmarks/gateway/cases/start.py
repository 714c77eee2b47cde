"""Ten servers behind a gateway: when a client sees all their tools, when all answer, and the memory then.

The same with one that hangs as its first: when do the other nine answer?
"""

from __future__ import annotations

import asyncio
import statistics
from typing import Any

from benchmarks.gateway.client import Failed
from benchmarks.gateway.contract import Peer, Server
from benchmarks.gateway.running import NotReady, running

COUNT = 10
LIMIT = 25.0
REST = 1.0
"""Seconds after which memory is looked at, so that what was only needed to start may be gone."""
HANGS = Server("s0", ("--hang",))


async def measure(peers: dict[str, Peer], rounds: int) -> dict[str, dict[str, Any]]:
    """Each in turn, alone on the machine; medians."""
    seen: dict[str, list[dict[str, float]]] = {name: [] for name in peers}
    problems: dict[str, str] = {}
    for _ in range(rounds):
        for name, peer in peers.items():
            if name in problems:
                continue
            try:
                seen[name].append(await _once(peer))
            except (NotReady, Failed, OSError) as error:
                problems[name] = str(error)
    return {
        name: {"problem": problems[name]}
        if name in problems
        else {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in seen.items()
    }


async def _once(peer: Peer) -> dict[str, float]:
    servers = [Server(f"s{number}") for number in range(COUNT)]
    names = [server.name for server in servers]
    async with running(peer, servers) as gateway:
        listed = await gateway.until_listed(names, LIMIT)
        cpu = gateway.usage().cpu
        answering = await gateway.until_callable(names, LIMIT)
        await asyncio.sleep(REST)
        usage = gateway.usage()
        return {
            "listed_s": listed,
            "cpu_s": cpu,
            "callable_s": answering,
            "memory_mb": usage.memory,
            "resident_mb": usage.resident,
        }


async def measure_hanging(peers: dict[str, Peer], rounds: int) -> dict[str, dict[str, Any]]:
    """The nine others beside one that hangs; and the same nine alone, in turns."""
    results: dict[str, dict[str, Any]] = {}
    nine = [Server(f"s{number}") for number in range(1, COUNT)]
    names = [server.name for server in nine]
    for name, peer in peers.items():
        beside: list[float] = []
        alone: list[float] = []
        try:
            for _ in range(rounds):
                async with running(peer, nine) as gateway:
                    alone.append(await gateway.until_callable(names, LIMIT))
                async with running(peer, [HANGS, *nine]) as gateway:
                    beside.append(await gateway.until_callable(names, LIMIT))
            results[name] = {"without_s": statistics.median(alone), "with_s": statistics.median(beside)}
        except (NotReady, Failed, OSError) as error:
            results[name] = {"problem": str(error)}
            if alone:
                results[name]["without_s"] = statistics.median(alone)
    return results

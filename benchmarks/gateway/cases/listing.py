"""A list of a thousand tools: what it costs the gateway, without what the client spends on reading it."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.gateway.client import Failed
from benchmarks.gateway.contract import Peer, Server, Way
from benchmarks.gateway.running import Gateway, NotReady, running

TOOLS = 1000
SERVER = Server("big", ("--tools", str(TOOLS)))
READY = 60.0
ENOUGH_CPU = 0.3
"""Seconds of CPU in the gateway after which the clock of the system is precise enough."""
AT_MOST = 400
WARM_UP = 3


async def measure(peers: dict[str, Peer], rounds: int) -> dict[str, dict[str, Any]]:
    """Each in turn, on every way it speaks."""
    results: dict[str, dict[str, Any]] = {}
    for name, peer in peers.items():
        results[name] = {}
        try:
            async with running(peer, [SERVER]) as gateway:
                await gateway.until_callable([SERVER.name], READY)
                for way in peer.SPEAKS:
                    results[name][way] = await _lists(gateway, way)
        except (NotReady, Failed, OSError) as error:
            results[name]["problem"] = str(error)
    return results


async def _lists(gateway: Gateway, way: Way) -> dict[str, Any]:
    async with gateway.connect(SERVER.name, way) as client:
        for _ in range(WARM_UP):
            if len(await client.tools()) < TOOLS:
                raise Failed("not all tools are listed")
        began, before, count = time.perf_counter(), gateway.usage().cpu, 0
        while count < AT_MOST and gateway.usage().cpu - before < ENOUGH_CPU:
            await client.tools()
            count += 1
        usage = gateway.usage()
        wall = (time.perf_counter() - began) / count
        cpu = (usage.cpu - before) / count
        return {"cpu_ms": cpu * 1e3, "wall_ms": wall * 1e3, "memory_mb": usage.memory}

"""The cost of a call: CPU in the gateway, latency, calls a second at 32 in flight; all take turns."""

from __future__ import annotations

import asyncio
import statistics
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from benchmarks.gateway.client import Client, Failed
from benchmarks.gateway.contract import Peer, Server, Way
from benchmarks.gateway.running import Gateway, NotReady, running

IN_FLIGHT = 32
SECONDS = 0.5
"""How long a block takes of each kind, so that a slow gateway gets no more of the machine than a fast one."""
READY = 60.0
SERVER = "a"


@dataclass
class _Run:
    """One gateway on one way, and what it took so far."""

    gateway: Gateway
    client: Client
    latencies: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    busy_cpu: list[float] = field(default_factory=list)

    async def call(self) -> None:
        text = await self.client.call(self.gateway.tool(SERVER, "echo"), {"text": "hello"})
        if text != f"{SERVER}:hello":
            raise Failed(f"a wrong answer: {text[:100]}")

    async def block(self) -> None:
        """Calls in a row, then many at once, each for a while."""
        before, calls = self.gateway.usage().cpu, len(self.latencies)
        end = time.perf_counter() + SECONDS
        while (began := time.perf_counter()) < end:
            await self.call()
            self.latencies.append(time.perf_counter() - began)
        middle = self.gateway.usage().cpu
        self.cpu.append((middle - before) / (len(self.latencies) - calls))
        began = time.perf_counter()
        counts = await asyncio.gather(*(self._several(began + SECONDS) for _ in range(IN_FLIGHT)))
        self.rates.append(sum(counts) / (time.perf_counter() - began))
        self.busy_cpu.append((self.gateway.usage().cpu - middle) / sum(counts))

    async def _several(self, end: float) -> int:
        count = 0
        while time.perf_counter() < end:
            await self.call()
            count += 1
        return count

    def forget(self) -> None:
        """What was measured so far was to warm up."""
        for seen in (self.latencies, self.cpu, self.rates, self.busy_cpu):
            seen.clear()

    def summary(self) -> dict[str, Any]:
        return {
            "cpu_ms": statistics.median(self.cpu) * 1e3,
            "busy_cpu_ms": statistics.median(self.busy_cpu) * 1e3,
            "p50_ms": statistics.median(self.latencies) * 1e3,
            "per_second": statistics.median(self.rates),
            "memory_mb": self.gateway.usage().memory,
        }


async def measure(peers: dict[str, Peer], rounds: int) -> dict[str, dict[str, Any]]:
    """Every gateway on every way it speaks; they run side by side and take turns."""
    results: dict[str, dict[str, Any]] = {name: {} for name in peers}
    async with AsyncExitStack() as stack:
        runs: dict[tuple[str, Way], _Run] = {}
        for name, peer in peers.items():
            try:
                gateway = await stack.enter_async_context(running(peer, [Server(SERVER)]))
                await gateway.until_callable([SERVER], READY)
                for way in peer.SPEAKS:
                    client = await stack.enter_async_context(gateway.connect(SERVER, way))
                    runs[name, way] = _Run(gateway, client)
            except (NotReady, Failed, OSError) as error:
                results[name]["problem"] = str(error)
        await _take_turns(runs, results, rounds)
        for (name, way), run in runs.items():
            if run.rates:
                results[name][way] = run.summary()
    return results


async def _take_turns(
    runs: dict[tuple[str, Way], _Run], results: dict[str, dict[str, Any]], rounds: int
) -> None:
    """A block of each in turn, each round beginning with another one; the first round only warms up."""
    for number in range(-1, rounds):
        order = list(runs)
        for name, way in order[number % len(order) :] + order[: number % len(order)]:
            run = runs[name, way]
            try:
                await run.block()
            except (Failed, OSError) as error:
                results[name]["problem"] = f"{way}: {error}"
                del runs[name, way]
            if number < 0:
                run.forget()

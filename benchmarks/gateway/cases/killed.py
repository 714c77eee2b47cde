"""A server is killed with -9: how long until a client's session has a good answer of it again."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import time
from typing import Any

from benchmarks.gateway.client import Client, Failed
from benchmarks.gateway.contract import Peer, Server
from benchmarks.gateway.running import Gateway, NotReady, running

READY = 60.0
LIMIT = 15.0
TRY = 5.0
PAUSE = 0.05


async def measure(peers: dict[str, Peer], rounds: int) -> dict[str, dict[str, Any]]:
    """Each in turn; the median time, and how many calls failed before the good one."""
    results: dict[str, dict[str, Any]] = {}
    for name, peer in peers.items():
        try:
            seen = [await _once(peer) for _ in range(rounds)]
            results[name] = {
                "answer_s": statistics.median(seconds for seconds, _ in seen),
                "worst_s": max(seconds for seconds, _ in seen),
                "failed_calls": max(failed for _, failed in seen),
            }
        except (NotReady, Failed, OSError) as error:
            results[name] = {"problem": str(error)}
    return results


async def _once(peer: Peer) -> tuple[float, int]:
    """In a fresh gateway: one that heals gives up on a server that is killed again and again."""
    async with running(peer, [Server("a"), Server("b")]) as gateway:
        await gateway.until_callable(["a", "b"], READY)
        async with gateway.connect("a") as client:
            return await _kill(gateway, client)


async def _kill(gateway: Gateway, client: Client) -> tuple[float, int]:
    """Seconds until the next good answer, and calls that failed until then."""
    pid = int((await client.call(gateway.tool("a", "pid"), {})).removeprefix("a:"))
    os.kill(pid, signal.SIGKILL)
    began = time.perf_counter()
    failed, last = 0, ""
    while time.perf_counter() - began < LIMIT:
        try:
            async with asyncio.timeout(TRY):
                if await client.call(gateway.tool("a", "echo"), {"text": "hello"}) == "a:hello":
                    return time.perf_counter() - began, failed
        except (Failed, OSError, TimeoutError) as error:
            last = str(error) or type(error).__name__
        failed += 1
        await asyncio.sleep(PAUSE)
    raise NotReady(f"no answer within {LIMIT:.0f} s: {last}"[:300])

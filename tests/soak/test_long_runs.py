"""What only shows after a long while: growth of memory, tasks or descriptors."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from pathlib import Path

import pytest

import toolcrib
from toolcrib.errors import ServerUnavailable

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]
TINY = Path(__file__).parents[2] / "benchmarks" / "tiny_server.py"
CALLS = 100_000
DEATHS = 40
DEADLINE = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the benchmark's small server, which may crash as often as it likes."""
    restart = {"giveUpAfter": 1000, "firstDelay": 0.05, "longestDelay": 0.1}
    entry = {"command": sys.executable, "args": ["-I", str(TINY)], "restart": restart}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"tiny": entry}}))
    return tmp_path


def resident_kilobytes() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


async def call_often(host: toolcrib.Host, count: int) -> None:
    for _ in range(count):
        await host.call("tiny__echo", {"text": "again"})


async def test_a_hundred_thousand_calls_leave_nothing_behind(home: Path) -> None:
    async with toolcrib.open_host(home=home) as host:
        await host.ready()
        await call_often(host, CALLS // 10)
        memory, descriptors, tasks = resident_kilobytes(), open_descriptors(), len(asyncio.all_tasks())

        await call_often(host, CALLS)

        assert resident_kilobytes() - memory < 4096
        assert open_descriptors() <= descriptors
        assert len(asyncio.all_tasks()) <= tasks


async def test_a_server_that_keeps_dying_leaves_nothing_behind(home: Path) -> None:
    async with toolcrib.open_host(home=home) as host:
        await host.ready()
        await die_and_return(host, DEATHS // 4)
        memory, descriptors, tasks = resident_kilobytes(), open_descriptors(), len(asyncio.all_tasks())

        await die_and_return(host, DEATHS)

        assert resident_kilobytes() - memory < 4096
        assert open_descriptors() <= descriptors
        assert len(asyncio.all_tasks()) <= tasks


async def die_and_return(host: toolcrib.Host, count: int) -> None:
    """Kill the server so many times, each time waiting until it answers again."""
    for _ in range(count):
        pid = host.servers.status("tiny").pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(DEADLINE):
            await answers_as_another_process(host, pid)


async def answers_as_another_process(host: toolcrib.Host, dead: int) -> None:
    with host.events.subscribe() as events:
        while True:
            status = host.servers.status("tiny")
            if status.state == toolcrib.ServerState.READY and status.pid != dead:
                break
            await events.next()
    try:
        await host.call("tiny__echo", {"text": "back"})
    except ServerUnavailable as error:
        pytest.fail(f"ready, and yet: {error}")

"""No server outlives its host, however the host ends; and nobody else's server is harmed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.children import alive, eventually
from tests.servers.puppets import PROGRAMS
from toolcrib.servers.processes import guard as guard_module
from toolcrib.servers.processes.guard import ProcessGuard, guard_processes, sweep
from toolcrib.servers.processes.orphans import MARKER, start_time

pytestmark = pytest.mark.usefixtures("tidy")
REPOSITORY = Path(__file__).parents[3]
TOKEN = "0123456789abcdef01234567"


@dataclass
class Host:
    """A host in a process of its own, and the processes that belong to it."""

    process: asyncio.subprocess.Process
    server: int
    daemon: int
    watchdog: int
    token: str

    def kill(self, *others: int) -> None:
        """Kill it the hard way; first those that would do something about it."""
        for pid in others:
            os.kill(pid, signal.SIGKILL)
        self.process.kill()


@asynccontextmanager
async def running_host(folder: Path) -> AsyncIterator[Host]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAMS / "host.py"), str(folder), stdin=-1, stdout=-1, env=environment
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        said = json.loads(await process.stdout.readline())
    host = Host(process, **said)
    try:
        yield host
    finally:
        for pid in (host.server, host.daemon, host.watchdog, process.pid):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        await process.wait()


def marked_process(marker: str) -> subprocess.Popen[bytes]:
    """A process that looks like some host's server."""
    return subprocess.Popen(["sleep", "300"], env={MARKER: marker}, start_new_session=True)


def note(folder: Path, content: Any, name: str = "x.json") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


async def test_when_the_host_is_killed_its_watchdog_ends_the_server_and_its_daemon(tmp_path: Path):
    async with running_host(tmp_path) as host:
        assert alive(host.server)
        assert alive(host.daemon)
        host.kill()
        await eventually(lambda: not alive(host.server) and not alive(host.daemon))
        await eventually(lambda: not alive(host.watchdog))


async def test_when_the_watchdog_is_killed_too_the_next_host_sweeps(tmp_path: Path):
    async with running_host(tmp_path) as host:
        host.kill(host.watchdog)
        await host.process.wait()
        assert alive(host.server)
        assert alive(host.daemon)
        assert len(list(tmp_path.iterdir())) == 1
        async with guard_processes(tmp_path):
            assert not alive(host.server)
            assert not alive(host.daemon)
            (mine,) = tmp_path.iterdir()
            assert json.loads(mine.read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


async def test_the_processes_of_a_host_that_lives_are_left_alone(tmp_path: Path):
    async with running_host(tmp_path) as host:
        async with guard_processes(tmp_path) as guard:
            guard.spawned(999_999)
            guard.exited(999_999)
        assert alive(host.server)
        assert alive(host.daemon)
        assert alive(host.watchdog)
        assert len(list(tmp_path.iterdir())) == 1


async def test_a_host_that_ends_well_leaves_nothing(tmp_path: Path):
    async with running_host(tmp_path) as host:
        assert host.process.stdin is not None
        host.process.stdin.close()
        async with asyncio.timeout(30):
            assert await host.process.wait() == 0
        assert not any(map(alive, (host.server, host.daemon)))
        await eventually(lambda: not alive(host.watchdog))
    assert list(tmp_path.iterdir()) == []


async def test_without_a_server_there_is_no_watchdog(tmp_path: Path):
    async with guard_processes(tmp_path) as guard:
        guard.exited(4711)
        assert guard._watchdog is None


async def test_a_recycled_pid_is_not_mistaken_for_the_host(tmp_path: Path):
    process = marked_process(f"{TOKEN}.1.")
    start = start_time(os.getpid())
    assert start is not None
    living = note(tmp_path, {"pid": os.getpid(), "start": start, "token": TOKEN}, "a.json")
    assert sweep(tmp_path) == 0
    assert process.poll() is None
    assert living.exists()
    recycled = note(tmp_path, {"pid": os.getpid(), "start": start - 1, "token": TOKEN}, "a.json")
    assert sweep(tmp_path) == 1
    assert process.wait(20) == -signal.SIGKILL
    assert not recycled.exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        {},
        {"pid": 1},
        {"pid": "x", "start": 1, "token": TOKEN},
        {"pid": 2**31 - 1, "start": 1, "token": ""},
        {"pid": 2**31 - 1, "start": 1, "token": TOKEN[:-1]},
        {"pid": 2**31 - 1, "start": 1, "token": None},
    ],
)
async def test_a_damaged_note_is_thrown_away_and_harms_nobody(tmp_path: Path, content: Any):
    process = marked_process(f"{TOKEN}.1.")
    try:
        damaged = note(tmp_path, content)
        other = note(tmp_path, "not a note", "readme.txt")
        assert sweep(tmp_path) == 0
        assert not damaged.exists()
        assert other.exists()
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


async def test_a_new_watchdog_takes_over_and_knows_the_servers_of_the_first(tmp_path: Path):
    # Without a marker, only the watchdog's list can lead to it.
    first = subprocess.Popen(["sleep", "300"], start_new_session=True)
    async with guard_processes(tmp_path) as guard:
        guard.spawned(first.pid)
        killed = guard._watchdog
        assert killed is not None
        killed.kill()
        killed.wait()
        guard.exited(4711)
        guard.spawned(999_999)
        assert guard._watchdog is not killed
    assert await asyncio.to_thread(first.wait, 20) == -signal.SIGTERM


async def test_the_watchdog_carries_no_marker_of_a_host_above_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(MARKER, "a.host.above.")
    async with guard_processes(tmp_path) as guard:
        guard.spawned(999_999)
        watchdog = guard._watchdog
        assert watchdog is not None
        environment = Path(f"/proc/{watchdog.pid}/environ").read_bytes()
        assert MARKER.encode() not in environment
        guard.exited(999_999)


def test_each_marker_is_another_and_none_is_the_beginning_of_another():
    guard = ProcessGuard(TOKEN)
    markers = [guard.new_marker() for _ in range(120)]
    assert all(marker.startswith(TOKEN) for marker in markers)
    for marker in markers:
        assert [other for other in markers if other.startswith(marker)] == [marker]


async def test_two_hosts_that_start_together_do_not_take_each_other_for_dead(tmp_path: Path):
    async def stay(ready: asyncio.Barrier) -> None:
        async with guard_processes(tmp_path):
            await ready.wait()
            assert len(list(tmp_path.glob("*.json"))) == 5

    ready = asyncio.Barrier(5)
    await asyncio.gather(*(stay(ready) for _ in range(5)))
    assert list(tmp_path.iterdir()) == []


def test_a_token_is_long_enough_to_be_nobody_elses():
    assert guard_module.TOKEN_BYTES >= 8

"""However a host ends, nothing it started is left. Numbers are those of the fault list."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from toolcrib.errors import HostRunning
from toolcrib.servers.processes.log_lines import output_in
from toolcrib.servers.processes.orphans import marked

HOST = """
import asyncio, sys, toolcrib
async def main():
    async with toolcrib.open_host(sys.argv[1]) as host:
        await host.ready()
        print(" ".join(str(s.pid) for s in host.servers.statuses()), flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone_within(pids: list[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def daemons_of(crib, names: list[str]) -> list[int]:
    logs = [(crib.home / "logs" / f"{name}.log").read_text() for name in names]
    return [int(line.split()[1]) for log in logs for line in output_in(log) if line.startswith("daemon ")]


async def test_17_a_server_that_ignores_everything_is_gone_after_a_stop(crib):
    crib.server("stubborn", "stubborn")
    async with crib.open() as host:
        await host.ready()
        pid = host.servers.status("stubborn").pid
        await host.servers["stubborn"].stop()
        assert not alive(pid)
        assert host.servers.status("stubborn").state == "disabled"
        assert host.tools("stubborn") == []
        host.servers["stubborn"].start()
        await host.ready()
        assert host.servers.status("stubborn").state == "ready"
        assert host.tools("stubborn") != []


async def test_18_a_daemon_that_left_the_group_is_gone_after_a_stop(crib):
    crib.server("parent", "daemon")
    async with crib.open() as host:
        await host.ready()
        [daemon] = daemons_of(crib, ["parent"])
        assert alive(daemon)
        await host.servers["parent"].stop()
        assert not alive(daemon)


def start_host(crib) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, str(crib.home)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, [int(pid) for pid in process.stdout.readline().split()]


def test_19_a_killed_host_leaves_no_server_behind(crib):
    crib.server("plain")
    crib.server("stubborn", "stubborn")
    crib.server("parent", "daemon")
    process, pids = start_host(crib)
    everyone = [*pids, *daemons_of(crib, ["parent"])]
    assert all(map(alive, everyone))
    process.kill()
    process.wait()
    assert gone_within(everyone, 60)


def test_19_what_a_killed_watchdog_left_is_swept_at_the_next_start(crib):
    crib.server("stubborn", "stubborn")
    process, pids = start_host(crib)
    note = json.loads(next((crib.home / "state" / "hosts").glob("*.json")).read_text())
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if note["token"].encode() in words:
            os.kill(int(folder.name), signal.SIGKILL)
    process.kill()
    process.wait()
    assert alive(pids[0])
    assert marked(note["token"]) == pids

    crib.document["mcpServers"].clear()
    crib.server("other")
    process, _ = start_host(crib)
    assert gone_within(pids, 60)
    process.kill()
    process.wait()


@pytest.mark.acceptance
def test_20_twenty_servers_end_in_parallel_when_the_host_is_asked_to(crib):
    for number in range(5):
        crib.server(f"plain{number}")
    for number in range(15):
        crib.server(f"stubborn{number}", "stubborn")
    process = subprocess.Popen(
        [sys.executable, "-m", "toolcrib", "up"],
        env={**os.environ, "TOOLCRIB_HOME": str(crib.home)},
        stdout=subprocess.PIPE,
        text=True,
    )
    pids = wait_for_pids(crib, 20)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=45) == 0  # one after the other they would take more than a minute
    assert not any(map(alive, pids))


def wait_for_pids(crib, count: int) -> list[int]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        listing = subprocess.run(
            [sys.executable, "-m", "toolcrib", "servers", "--json"],
            env={**os.environ, "TOOLCRIB_HOME": str(crib.home)},
            capture_output=True,
            text=True,
            check=False,
        )
        statuses = json.loads(listing.stdout) if listing.returncode == 0 else []
        pids = [status["pid"] for status in statuses if status["pid"]]
        if len(pids) == count and (crib.home / "logs").exists():
            return pids
    raise AssertionError("the servers did not all become ready")


async def test_21_a_second_host_on_one_home_is_pointed_to_the_first(crib):
    async with crib.open():
        with pytest.raises(HostRunning, match=str(os.getpid())):
            async with crib.open(exclusive=True):
                pass
    async with crib.open(exclusive=True):
        pass


async def test_a_program_runs_beside_a_host_and_leaves_it_the_home(crib):
    async with crib.open():
        async with crib.open():
            pass
        with pytest.raises(HostRunning):
            async with crib.open(exclusive=True):
                pass


async def test_a_cancelled_host_leaves_nothing(crib):
    crib.server("stubborn", "stubborn")
    ready = asyncio.Event()
    pids: list[int] = []

    async def run() -> None:
        async with crib.open() as host:
            await host.ready()
            pids.append(host.servers.status("stubborn").pid)
            ready.set()
            await asyncio.Event().wait()

    task = asyncio.ensure_future(run())
    await ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pids[0])

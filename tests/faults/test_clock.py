"""Time that jumps: waits are counted in seconds that passed, not in the time of day (29)."""

from __future__ import annotations

import os
import signal
from datetime import datetime

from toolcrib.schema.servers import ServerState
from toolcrib.testing.clock import TurnedClock


async def test_29_setting_the_clock_neither_hurries_nor_delays_a_retry(crib, until):
    clock = TurnedClock()
    crib.server("waiting", restart={"firstDelay": 40, "jitter": 0})
    async with crib.open(clock=clock) as host:
        await host.ready()
        os.kill(host.servers.status("waiting").pid, signal.SIGKILL)
        await until(host, lambda: host.servers.status("waiting").retry_at is not None)
        for hours in (1, -2):
            clock.jump(hours * 3600)
            assert host.servers.status("waiting").state is ServerState.BACKOFF
        clock.turn(39)
        assert host.servers.status("waiting").state is ServerState.BACKOFF
        clock.turn(2)
        await until(host, lambda: host.servers.status("waiting").state is ServerState.READY)
        assert host.servers.status("waiting").restarts == 1


async def test_29_a_long_sleep_of_the_machine_starts_no_storm(crib, until):
    clock = TurnedClock()
    for number in range(3):
        crib.server(f"asleep{number}")
    async with crib.open(clock=clock) as host:
        await host.ready()
        pids = [status.pid for status in host.servers.statuses()]
        clock.turn(600)
        for number in range(3):
            answer = await host.call(f"asleep{number}__echo", {"text": "awake"})
            assert answer["content"][0]["text"] == "awake"
        assert [status.pid for status in host.servers.statuses()] == pids


async def test_a_good_while_wipes_the_slate(crib, until):
    clock = TurnedClock()
    crib.server("recovering", restart={"giveUpAfter": 2, "firstDelay": 1, "goodAfter": 100, "jitter": 0})
    async with crib.open(clock=clock) as host:
        for _ in range(4):
            await until(host, lambda: host.servers.status("recovering").state is ServerState.READY)
            clock.turn(101)
            os.kill(host.servers.status("recovering").pid, signal.SIGKILL)
            await until(host, lambda: host.servers.status("recovering").retry_at is not None)
            clock.turn(2)
        await until(host, lambda: host.servers.status("recovering").state is ServerState.READY)
        for _ in range(2):
            await until(host, lambda: host.servers.status("recovering").state is ServerState.READY)
            os.kill(host.servers.status("recovering").pid, signal.SIGKILL)
            await until(host, lambda: host.servers.status("recovering").retry_at is not None)
            wait = datetime.fromisoformat(host.servers.status("recovering").retry_at) - clock.now()
            clock.turn(2)
        assert wait.total_seconds() > 50  # and no longer soon

"""The gateway for an hour, with 32 clients, while its servers are killed at random.

Not one call is answered wrongly, none is lost without an error, none runs twice that must not, and nothing
grows. `SOAK_MINUTES` makes it shorter or longer, `SOAK_SEED` makes the same choices again.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.soak.clients import Client, Findings, LegacyClient, ModernClient
from tests.soak.gateway_under_test import (
    Serving,
    all_back,
    kill_at_random,
    serving,
)
from tests.soak.measuring import Usage, all_running

MINUTES = float(os.environ.get("SOAK_MINUTES", "60"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or time.time_ns() % 1_000_000
CLIENTS = 32
SERVERS = ("anvil", "bench", "chisel", "drill", "emery", "file")
ROUND = 60.0
"""Seconds after which all clients leave, and what is left of them is measured."""
SETTLING = 60.0

MOST_GROWTH = 16 * 1024
"""Kilobytes: after a million calls that is sixteen bytes a call."""
MOST_RECORD = 1200
"""Bytes of the database for each call; arguments of up to 800 characters are part of it."""

pytestmark = [pytest.mark.soak, pytest.mark.timeout(MINUTES * 60 + 900)]


async def test_servers_that_die_at_random_cost_no_call_and_leave_nothing_behind(tmp_path: Path) -> None:
    print(f"seed {SEED}, {MINUTES:g} minutes")
    findings, chance = Findings(SERVERS), random.Random(SEED)
    async with serving(tmp_path, SERVERS) as gateway:
        await one_round(gateway, findings, chance, min(ROUND, MINUTES * 12))  # warms everything up
        first = await quiet(gateway)
        killed, ends = 0, time.monotonic() + MINUTES * 60
        while (left := ends - time.monotonic()) > 1:
            killed += await one_round(gateway, findings, chance, min(ROUND, left))
            last = await settled(gateway, first)
            report(findings, killed, last)
        recorded, counted = gateway.recorded(), gateway.counted()
        size = gateway.database().stat().st_size

    assert findings.wrong == []
    assert findings.answered > 0 < killed
    assert_nothing_ran_twice(findings, gateway.journal())
    assert_all_recorded(findings, recorded)
    assert sum(server["calls"]["total"] for server in counted) == recorded
    assert last.calmer_than(first), f"{first} at first, {last} in the end"
    assert last.kilobytes - first.kilobytes < MOST_GROWTH
    assert size / recorded < MOST_RECORD
    assert all_running(str(tmp_path)) == []


async def one_round(gateway: Serving, findings: Findings, chance: random.Random, seconds: float) -> int:
    """All clients come, call while servers die, and leave; returns how many died."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    async with asyncio.TaskGroup() as group:
        killing = group.create_task(kill_at_random(gateway, over, chance))
        for number in range(CLIENTS):
            group.create_task(client(number, gateway, findings, chance).live(over))
    return killing.result()


def client(number: int, gateway: Serving, findings: Findings, chance: random.Random) -> Client:
    """Half of them of either era."""
    kind = ModernClient if number % 2 else LegacyClient
    return kind(gateway.url, findings, chance.getrandbits(32))


async def quiet(gateway: Serving) -> Usage:
    """What is used when nobody calls: the least that is seen for a while."""
    await all_back(gateway)
    seen = []
    for _ in range(10):
        seen.append(gateway.usage())
        await asyncio.sleep(0.5)
    return min(seen, key=lambda one: (one.descriptors, one.tasks, one.threads))


async def settled(gateway: Serving, like: Usage) -> Usage:
    """What is used once everything that ends has ended; given a while to."""
    await all_back(gateway)
    deadline = time.monotonic() + SETTLING
    while True:
        now = gateway.usage()
        if now.calmer_than(like) or time.monotonic() > deadline:
            return now
        await asyncio.sleep(0.5)


def report(findings: Findings, killed: int, now: Usage) -> None:
    """A line for each round."""
    refused = dict(findings.refused)
    print(
        f"{findings.answered} answered, {killed} killed, refused {refused}, {findings.hung_up} hung up, "
        f"slowest recovery {findings.slowest:.1f} s, {findings.notices} notices, "
        f"{len(findings.wrong)} wrong: {now}",
        *findings.wrong[:3],
        sep="\n  ",
        flush=True,
    )


def assert_nothing_ran_twice(findings: Findings, journal: list[str]) -> None:
    done = Counter(journal)
    assert [text for text, times in done.items() if times > 1] == []
    assert [text for text in findings.noted if text not in done] == []


def assert_all_recorded(findings: Findings, recorded: int) -> None:
    """Every call that was answered, and none that was not made; one that was hung up on may be either."""
    made = findings.answered + findings.refused.total()
    assert made <= recorded <= made + findings.hung_up

"""Fetching the tools again: when told to, not too often, and the last good list stays."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from tests.servers.puppets import LEGACY, SILENCE, TOOL, Puppet, Refusal
from toolcrib.servers.tool_list import PAUSE, TIMEOUT, ListRefresher

pytestmark = pytest.mark.usefixtures("tidy")


class Offers:
    """What was offered, and what was complained about."""

    def __init__(self) -> None:
        self.lists: list[list[Any]] = []
        self.complaints: list[str | None] = []
        self._news = asyncio.Event()

    async def offer(self, definitions: list[Any]) -> None:
        self.lists.append(definitions)
        self._news.set()

    def rate(self, complaint: str | None) -> None:
        self.complaints.append(complaint)
        self._news.set()

    async def next(self) -> None:
        async with asyncio.timeout(60):
            await self._news.wait()
        self._news.clear()


@asynccontextmanager
async def refreshing(server: Puppet) -> AsyncIterator[tuple[ListRefresher, Offers, Any]]:
    refresher, offers = ListRefresher(), Offers()
    async with server.connect() as session:
        running = asyncio.ensure_future(refresher.run(session, offers.offer, offers.rate))
        try:
            yield refresher, offers, session
        finally:
            running.cancel()
            with pytest.raises(asyncio.CancelledError):  # it ends in no other way
                await running


async def test_a_change_brings_the_new_list(puppet):
    async with puppet(LEGACY) as server, refreshing(server) as (refresher, offers, _):
        refresher.ask()
        await offers.next()
        assert offers.lists == [[TOOL]]
        assert offers.complaints == []


async def test_a_storm_of_changes_costs_one_fetch(puppet, clock: LoopClock):
    async with puppet(LEGACY) as server, refreshing(server) as (refresher, offers, session):
        for _ in range(1000):
            refresher.ask()
        await offers.next()
        for _ in range(1000):
            refresher.ask()
        await session.check(timeout=60)
        assert len(server.all("tools/list")) == 1
        await clock.passes(PAUSE)
        await offers.next()
        assert len(server.all("tools/list")) == 2


async def test_a_failed_fetch_is_complained_about_until_one_goes_well(puppet, clock: LoopClock):
    busy = {**LEGACY, "tools/list": Refusal(-32603, "busy")}
    async with puppet(busy) as server, refreshing(server) as (refresher, offers, _):
        refresher.ask()
        await offers.next()
        assert offers.complaints == ["The tool list could not be refreshed: busy"]
        server.script["tools/list"] = LEGACY["tools/list"]
        refresher.ask()
        await clock.passes(PAUSE)
        await offers.next()
        assert offers.lists == [[TOOL]]
        assert offers.complaints[-1] is None


async def test_a_list_that_never_comes_is_complained_about(puppet, clock: LoopClock):
    silent = {**LEGACY, "tools/list": SILENCE}
    async with puppet(silent) as server, refreshing(server) as (refresher, offers, _):
        refresher.ask()
        await server.expect("tools/list")
        await clock.passes(TIMEOUT)
        await offers.next()
        assert offers.lists == []
        assert "did not list all of its tools" in str(offers.complaints[0])


async def test_a_lost_connection_is_left_for_others_to_tell(puppet):
    silent = {**LEGACY, "tools/list": SILENCE}
    async with puppet(silent) as server, refreshing(server) as (refresher, offers, session):
        refresher.ask()
        await server.expect("tools/list")
        os.kill(session.pid, signal.SIGKILL)
        async with asyncio.timeout(60):
            await session.lost
        assert offers.complaints == []

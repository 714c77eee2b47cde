"""The pool: in which order its servers begin, and that nobody sees it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from toolcrib.clock import SystemClock
from toolcrib.errors import ConfigError
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import SupervisorContext, without_listener
from toolcrib.servers.starts import StartSlots

pytestmark = pytest.mark.usefixtures("tidy")

NAMES = [f"server{number}" for number in range(40)]
ENTRIES = [ServerEntry(name=name, type="stdio", raw={}) for name in NAMES]
FINGERPRINTS = dict.fromkeys(NAMES, "")


class Lists:
    """The tool lists of an earlier run."""

    def __init__(self, *known: str) -> None:
        self._known = known

    def load(self, server: str, fingerprint: str) -> CachedTools | None:
        return self.last(server) if server in self._known else None

    def last(self, server: str) -> CachedTools | None:
        return CachedTools(
            server=server,
            fingerprint="",
            protocol="2025-11-25",
            version=None,
            definitions=(),
            saved_at=SystemClock().now(),
        )

    def save(self, tools: CachedTools) -> None:
        pass

    def forget(self, server: str) -> None:
        pass


class Yard:
    """A pool of servers that all have a process and then turn out to be of no use."""

    def __init__(self, *known: str) -> None:
        self.begun: list[str] = []
        slots = StartSlots(1, patience=3600, is_idle=lambda: False)
        told = SupervisorContext(clock=SystemClock(), slots=slots, listener=None)  # type: ignore[arg-type]
        self.pool = Pool(
            connector=lambda entry: partial(self._connect, entry.name),
            context=without_listener(told),
            cache=Lists(*known),
        )

    @asynccontextmanager
    async def _connect(self, name: str, *, on_spawn: Any, **rest: Any) -> AsyncIterator[Any]:
        self.begun.append(name)
        on_spawn(os.getpid())
        raise ConfigError("It is of no use.")
        yield

    async def start_first(self, entries: list[ServerEntry] = ENTRIES, *, switched_on: bool = True) -> None:
        await self.pool.start_first(entries, FINGERPRINTS, switched_on=switched_on)

    async def apply(self) -> None:
        await self.pool.apply(ENTRIES, FINGERPRINTS, {})
        await self.pool.settle()


async def test_servers_of_which_nothing_is_known_start_in_any_order():
    yard = Yard()
    await yard.apply()
    assert sorted(yard.begun) == sorted(NAMES)
    assert yard.begun != NAMES
    assert {status.state for status in yard.pool.statuses()} == {ServerState.NEEDS_CONFIG}
    await yard.pool.close()


async def test_servers_that_have_worked_before_start_first_and_in_the_order_of_the_file():
    yard = Yard("server30", "server7", "server21")
    await yard.apply()
    assert yard.begun[:3] == ["server7", "server21", "server30"]
    await yard.pool.close()


async def test_in_whatever_order_they_start_they_are_listed_in_that_of_the_file():
    yard = Yard()
    await yard.apply()
    assert yard.pool.names() == NAMES
    await yard.pool.close()


async def test_one_leads_and_the_others_follow():
    yard = Yard("server7")
    await yard.start_first()
    assert yard.begun == yard.pool.names() == ["server7"]
    leader = yard.pool["server7"]

    await yard.apply()

    assert yard.pool["server7"] is leader
    assert yard.begun.count("server7") == 1
    assert yard.pool.names() == NAMES
    await yard.pool.close()


async def test_nothing_leads_that_may_not_start():
    yard = Yard()
    await yard.start_first([replace(entry, enabled=False) for entry in ENTRIES])
    await yard.start_first(switched_on=False)
    await yard.start_first([])
    assert yard.begun == yard.pool.names() == []
    await yard.pool.close()

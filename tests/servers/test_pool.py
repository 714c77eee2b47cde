"""The pool: in which order its servers begin, and that nobody sees it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest

from toolcrib.clock import SystemClock
from toolcrib.errors import ConfigError
from toolcrib.schema.servers import CachedTools, ServerEntry, ServerState
from toolcrib.servers.pool import Pool
from toolcrib.servers.ports import Circumstances, quietly
from toolcrib.servers.starts import StartSlots

pytestmark = pytest.mark.usefixtures("tidy")

NAMES = [f"server{number}" for number in range(40)]


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
        self.listed_at_the_first: list[str] = []
        slots = StartSlots(1, patience=3600, to_spare=lambda: False)
        told = Circumstances(clock=SystemClock(), slots=slots, audience=None)  # type: ignore[arg-type]
        self.pool = Pool(
            connector=lambda entry: partial(self._connect, entry.name),
            circumstances=quietly(told),
            cache=Lists(*known),
        )

    @asynccontextmanager
    async def _connect(self, name: str, *, on_spawn: Any, **rest: Any) -> AsyncIterator[Any]:
        if not self.begun:
            self.listed_at_the_first = self.pool.names()
        self.begun.append(name)
        on_spawn(os.getpid())
        raise ConfigError("It is of no use.")
        yield

    async def apply(self) -> None:
        entries = [ServerEntry(name=name, type="stdio", raw={}) for name in NAMES]
        await self.pool.apply(entries, dict.fromkeys(NAMES, ""), {})
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


async def test_the_first_begins_before_the_host_looks_at_the_others():
    yard = Yard()
    await yard.apply()
    assert yard.listed_at_the_first == yard.begun[:1]
    await yard.pool.close()

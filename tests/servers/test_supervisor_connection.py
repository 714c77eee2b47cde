"""One life of a server, seen from who waits beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from tests.loop_clock import LoopClock
from tests.servers.test_starts import Starter, _end, _settle
from toolcrib.errors import ConnectionLost
from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.ports import ServerListener, SupervisorContext
from toolcrib.servers.starts import FIRST_CALL_PAUSE, StartSlots
from toolcrib.servers.supervisor import Connection

pytestmark = pytest.mark.usefixtures("tidy")


class Dying:
    """A program that ends at whatever it is asked first."""

    def __init__(self) -> None:
        self.tried: list[str | None] = []

    @asynccontextmanager
    async def connect(self, *, era: str | None, **callbacks: Any) -> AsyncIterator[Any]:
        self.tried.append(era)
        raise ConnectionLost("It ended.")
        yield


async def test_one_that_died_on_the_probe_waits_its_turn_again_before_it_is_tried_without(clock: LoopClock):
    slots = StartSlots(1, patience=3600, is_idle=lambda: False)
    program = Dying()
    entry = ServerEntry(name="old", type="stdio", raw={})
    nobody = cast(ServerListener, None)
    life = Connection(
        entry, program.connect, SupervisorContext(clock=clock, slots=slots, listener=nobody), cast(Any, None)
    )
    first = Starter(slots)
    await _settle()
    dying = asyncio.ensure_future(life.run(None))
    await _settle()
    other = Starter(slots)
    first.let_go.set()
    await _settle()
    await clock.passes(FIRST_CALL_PAUSE)
    assert (program.tried, other.inside) == ([None], True)
    await _end(other)
    error = await dying
    assert program.tried == [None, "legacy"]
    assert isinstance(error, ConnectionLost)
    await first.task

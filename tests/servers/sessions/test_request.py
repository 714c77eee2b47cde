"""The clock of one request: held, started anew, and never left running for nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.loop_clock import LoopClock
from toolcrib.servers.sessions.peer import Deadlines, Pending

pytestmark = pytest.mark.usefixtures("tidy")


class Requests(dict[int, Pending]):
    """Those on their way, and their deadlines."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(self.loop, self)

    def add(self, patience: float, longest: float = 1000.0) -> Pending:
        future: asyncio.Future[Any] = self.loop.create_future()
        request = self[len(self)] = Pending(future, patience, None)
        request.begin(self.deadlines, patience)
        request.latest = self.loop.time() + longest
        return request


def pending(patience: float, longest: float = 1000.0) -> Pending:
    return Requests().add(patience, longest)


def now() -> float:
    return asyncio.get_running_loop().time()


async def expired(request: Pending) -> bool:
    if not request.future.done():
        return False
    with pytest.raises(TimeoutError):
        await request.future
    return True


async def test_it_expires_in_its_time(clock: LoopClock):
    request = pending(10)
    await clock.passes(9)
    assert not await expired(request)
    await clock.passes(1.1)
    assert await expired(request)


async def test_held_it_does_not_expire_and_released_it_has_what_was_left(clock: LoopClock):
    request = pending(10)
    await clock.passes(4)
    request.hold(now())
    request.hold(now())
    await clock.passes(100)
    request.release(now())
    await clock.passes(100)
    assert not await expired(request)
    request.release(now())
    await clock.passes(5)
    assert not await expired(request)
    await clock.passes(2)
    assert await expired(request)


async def test_progress_gives_it_all_its_time_again_but_not_beyond_the_last_moment(clock: LoopClock):
    request = pending(10, longest=25)
    for _ in range(2):
        await clock.passes(9)
        request.progressed(now())
    await clock.passes(6)
    assert not await expired(request)
    await clock.passes(2)
    assert await expired(request)


async def test_time_spent_held_does_not_bring_the_last_moment_nearer(clock: LoopClock):
    request = pending(10, longest=15)
    request.hold(now())
    await clock.passes(500)
    request.progressed(now())
    request.release(now())
    await clock.passes(9)
    request.progressed(now())
    assert not await expired(request)
    await clock.passes(5)
    assert not await expired(request)
    await clock.passes(2)
    assert await expired(request)


async def test_of_many_with_one_timer_each_expires_in_its_own_time(clock: LoopClock):
    requests = Requests()
    long, short, middle = (requests.add(seconds) for seconds in (30, 10, 20))
    await clock.passes(9)
    assert not short.future.done()
    await clock.passes(2)
    assert await expired(short)
    assert not middle.future.done()
    await clock.passes(10)
    assert await expired(middle)
    assert not long.future.done()
    await clock.passes(10)
    assert await expired(long)


async def test_one_that_is_over_never_expires_and_the_others_do(clock: LoopClock):
    requests = Requests()
    kept, late = requests.add(10), requests.add(20)
    del requests[0]
    await clock.passes(21)
    assert not kept.future.done()
    assert await expired(late)


async def test_closed_they_leave_no_timer_running(clock: LoopClock):
    requests = Requests()
    request = requests.add(10)
    requests.deadlines.close()
    await clock.passes(11)
    assert not request.future.done()


async def test_an_answered_request_leaves_no_timer_running():
    request = pending(10)
    request.hold(now())
    request.future.set_result({})
    request.release(now())
    assert request.at is None
    request.progressed(now())
    assert request.at is None

"""What a coroutine may compute for one server."""

from __future__ import annotations

import asyncio
from time import thread_time

import pytest

from toolcrib.servers.metered import (
    BURST,
    PER_BYTE,
    SLICE,
    ServerShare,
    note_event,
    running,
    take_turns,
)


@pytest.fixture
def reports() -> list[bool]:
    return []


@pytest.fixture
def share(reports: list[bool]) -> ServerShare:
    return ServerShare(reports.append)


def compute(seconds: float) -> None:
    until = thread_time() + seconds
    while thread_time() < until:
        pass


async def work(seconds: float, steps: int = 1) -> str:
    for _ in range(steps):
        compute(seconds / steps)
        await asyncio.sleep(0)
    return "done"


async def test_work_beyond_the_budget_is_paused_and_reported(share: ServerShare, reports: list[bool]):
    await share.metered(work(BURST / 2))
    assert reports == []
    assert await share.metered(work(1.2 * BURST)) == "done"  # in one step: time passes and refills the budget
    assert reports == [True]
    share.close()


async def test_free_work_and_the_work_of_others_is_not_charged(share: ServerShare, reports: list[bool]):
    other = asyncio.ensure_future(work(BURST, steps=50))
    assert await share.metered(work(0.01, steps=20)) == "done"
    await share.metered(work(BURST * 2), free=BURST * 3)
    await other
    assert reports == []


async def test_an_expected_answer_is_free_and_another_event_of_its_size_is_not(
    share: ServerShare, reports: list[bool]
):
    async def receive(*, answer: bool) -> None:
        metered = running()
        assert metered is not None
        metered.receiving(int(2 * BURST / PER_BYTE))
        await work(1.5 * BURST)
        note_event(answer=answer)

    await share.metered(receive(answer=True), answer_expected=True)
    assert reports == []
    await share.metered(receive(answer=False), answer_expected=True)
    assert reports == [True]
    share.close()


async def test_a_long_step_lets_others_run(share: ServerShare):
    turns: list[int] = []

    async def busy() -> None:
        for number in range(3):
            compute(2 * SLICE)
            await take_turns()
            turns.append(number)

    async def other() -> None:
        turns.append(-1)

    waiting = asyncio.ensure_future(other())
    await share.metered(busy())
    await waiting
    assert turns.index(-1) == 0


async def test_cancellation_and_errors_reach_the_coroutine_even_in_a_pause():
    flooding = asyncio.Event()
    share = ServerShare(lambda _: flooding.set())
    seen: list[type[BaseException]] = []

    async def stubborn() -> None:
        try:
            await work(BURST * 3)
        except asyncio.CancelledError as error:
            seen.append(type(error))
            raise

    task = asyncio.ensure_future(share.metered(stubborn()))
    await flooding.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == [asyncio.CancelledError]
    with pytest.raises(ZeroDivisionError):
        await share.metered(_fail())
    share.close()


async def test_a_timeout_ends_a_pause(share: ServerShare):
    async def limited() -> None:
        async with asyncio.timeout(0.01):
            await work(BURST * 3)

    with pytest.raises(TimeoutError):
        await share.metered(limited())
    share.close()


async def _fail() -> None:
    raise ZeroDivisionError

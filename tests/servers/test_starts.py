"""Slots for starting: few at once, and none held by one that hangs."""

from __future__ import annotations

import asyncio
import os

import pytest

from tests.loop_clock import LoopClock
from toolcrib.servers.starts import FIRST_CALL_PAUSE, HEAD_START, TICK, StartSlots

pytestmark = pytest.mark.usefixtures("tidy")


class Starter:
    """Holds a slot until told to let go."""

    def __init__(self, slots: StartSlots) -> None:
        self.inside = False
        self.let_go = asyncio.Event()
        self.task = asyncio.ensure_future(self._run(slots))

    async def _run(self, slots: StartSlots) -> None:
        async with slots.taken() as self.start:
            self.inside = True
            await self.let_go.wait()
        self.inside = False


async def _settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def _end(*starters: Starter) -> None:
    for starter in starters:
        starter.let_go.set()
    await asyncio.gather(*(starter.task for starter in starters))


async def test_no_more_than_the_slots_start_at_once(clock: LoopClock):
    slots = StartSlots(2, patience=3600, is_idle=lambda: False)
    starters = [Starter(slots) for _ in range(5)]
    await _settle()
    assert [starter.inside for starter in starters] == [True, True, False, False, False]
    starters[0].let_go.set()
    await _settle()
    await clock.passes(FIRST_CALL_PAUSE)
    assert [starter.inside for starter in starters] == [False, True, True, False, False]
    await _end(*starters)


async def test_the_first_that_is_up_can_be_called_before_the_next_one_starts(clock: LoopClock):
    slots = StartSlots(1, patience=3600, is_idle=lambda: True)
    starters = [Starter(slots) for _ in range(3)]
    await _settle()
    starters[0].let_go.set()
    await _settle()
    assert [starter.inside for starter in starters] == [False, False, False]
    await clock.passes(FIRST_CALL_PAUSE)
    assert [starter.inside for starter in starters] == [False, True, False]
    starters[1].let_go.set()
    await _settle()
    assert starters[2].inside  # this once only
    await _end(*starters)


async def test_one_that_hangs_gives_its_slot_up_and_goes_on(clock: LoopClock):
    slots = StartSlots(1, patience=100, is_idle=lambda: False)
    hanging, waiting = Starter(slots), Starter(slots)
    await _settle()
    assert not waiting.inside
    await clock.passes(101)
    assert (hanging.inside, waiting.inside) == (True, True)
    await _end(hanging, waiting)


async def test_one_that_writes_rubbish_keeps_nobody_waiting(clock: LoopClock):
    slots = StartSlots(1, patience=3600, is_idle=lambda: False)
    raving, waiting = Starter(slots), Starter(slots)
    await _settle()
    assert not waiting.inside
    raving.start.wrote_junk()
    await clock.passes(1)
    assert (raving.inside, waiting.inside) == (True, True)
    await _end(raving, waiting)


async def test_once_one_is_up_a_processor_with_nothing_to_do_lets_one_more_in_at_each_look(clock: LoopClock):
    idle = True
    slots = StartSlots(1, patience=3600, is_idle=lambda: idle)
    first, second = Starter(slots), Starter(slots)
    await clock.passes(10 * TICK)
    assert (first.inside, second.inside) == (True, False)  # nothing is up yet: the first has it all
    await _end(first, second)
    starters = [Starter(slots) for _ in range(4)]
    await _settle()
    assert [starter.inside for starter in starters] == [True, False, False, False]
    await clock.passes(TICK)
    assert [starter.inside for starter in starters] == [True, True, False, False]
    await clock.passes(TICK)
    assert [starter.inside for starter in starters] == [True, True, True, False]
    idle = False
    await clock.passes(10 * TICK)
    assert [starter.inside for starter in starters] == [True, True, True, False]
    await _end(*starters)


async def test_a_slot_is_given_back_once_however_it_ends(clock: LoopClock):
    slots = StartSlots(1, patience=100, is_idle=lambda: False)
    slow = Starter(slots)
    await clock.passes(101)
    await _end(slow)
    for _ in range(3):
        await _end(Starter(slots))
    starters = [Starter(slots) for _ in range(3)]
    await _settle()
    assert [starter.inside for starter in starters] == [True, False, False]
    await _end(*starters)


async def test_one_that_fails_or_is_cancelled_gives_its_slot_back():
    slots = StartSlots(1, patience=3600, is_idle=lambda: False)

    async def fail() -> None:
        async with slots.taken():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    holding, waiting = Starter(slots), Starter(slots)
    await _settle()
    waiting.task.cancel()
    holding.task.cancel()
    await asyncio.wait({holding.task, waiting.task})
    last = Starter(slots)
    await _settle()
    assert last.inside
    await _end(last)


async def test_the_host_lets_the_very_first_process_begin_before_it_does_anything_else():
    slots = StartSlots(1, patience=3600, is_idle=lambda: False)
    starter = Starter(slots)
    waiting = asyncio.ensure_future(slots.first_process())
    await _settle()
    assert not waiting.done()
    starter.start.uses(os.getpid())
    await waiting
    await slots.first_process()  # later ones are not waited for
    await _end(starter)


async def test_the_host_waits_neither_for_one_that_cannot_begin_nor_for_long(clock: LoopClock):
    slots = StartSlots(1, patience=3600, is_idle=lambda: False)
    failing = Starter(slots)
    waiting = asyncio.ensure_future(slots.first_process())
    await _settle()
    assert not waiting.done()
    failing.task.cancel()
    await waiting
    slow = Starter(slots)
    waiting = asyncio.ensure_future(slots.first_process())
    await _settle()
    assert not waiting.done()
    await clock.passes(HEAD_START)
    await waiting
    await slots.first_process()  # nor a second time
    await _end(slow)

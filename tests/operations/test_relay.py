"""Events from callbacks reach a listener that may be slow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from toolcrib.operations.event_relay import CAPACITY, relay


async def test_all_events_have_been_told_when_the_block_is_left() -> None:
    told: list[int] = []

    async def emit(event: Any) -> None:
        await asyncio.sleep(0)
        told.append(event)

    async with relay(emit) as put:
        for number in range(50):
            put(number)

    assert told == list(range(50))


async def test_a_slow_listener_loses_the_oldest() -> None:
    told: list[int] = []

    async def emit(event: Any) -> None:
        told.append(event)

    async with relay(emit) as put:
        for number in range(CAPACITY + 10):
            put(number)

    assert told == list(range(10, CAPACITY + 10))


async def test_a_failure_inside_is_not_held_up_by_a_listener_that_hangs() -> None:
    async def emit(event: Any) -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        async with relay(emit) as put:
            put(1)
            await asyncio.sleep(0)
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        await asyncio.wait_for(fail(), 60)

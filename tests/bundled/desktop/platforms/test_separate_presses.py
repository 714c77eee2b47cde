"""Presses of separate calls are far enough apart in time or place; the clock is the test's."""

from __future__ import annotations

import asyncio

import pytest

from toolcrib.bundled.desktop.backend import Button, ClickRefused
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.bundled.desktop.separate_presses import INTERVAL, SeparatePresses

HERE, THERE = Point(100, 100), Point(100, 140)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def presses(clock: Clock) -> SeparatePresses:
    return SeparatePresses(now=clock.monotonic, sleep=clock.sleep)


async def _press(presses: SeparatePresses, at: Point | None, button: Button | None = "left") -> None:
    async with presses.press(button, at):
        pass


@pytest.mark.parametrize(
    ("button", "at", "waits"),
    [
        ("left", HERE, True),
        ("left", HERE.moved(4, -3), True),
        ("left", None, True),
        ("left", THERE, False),
        ("right", HERE, False),
        (None, HERE, False),
    ],
)
async def test_a_press_waits_only_for_the_last_one_of_its_button_at_its_place(
    presses: SeparatePresses, clock: Clock, button: Button | None, at: Point | None, waits: bool
) -> None:
    await _press(presses, HERE)
    started = clock.now
    await _press(presses, at, button)
    assert clock.now - started == pytest.approx(INTERVAL if waits else 0.0)


async def test_a_refused_click_counts_as_no_press_and_a_failed_one_as_one(
    presses: SeparatePresses, clock: Clock
) -> None:
    with pytest.raises(ClickRefused):
        async with presses.press("left", HERE):
            raise ClickRefused("Another window covers it.")
    started = clock.now
    await _press(presses, HERE)
    assert clock.now == started
    clock.now += INTERVAL
    with pytest.raises(asyncio.CancelledError):
        async with presses.press("left", HERE):
            raise asyncio.CancelledError
    started = clock.now
    await _press(presses, HERE)
    assert clock.now - started == pytest.approx(INTERVAL)

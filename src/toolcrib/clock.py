"""Time as an argument: whatever waits or records times takes a `Clock`, so that tests can control it. Also
detects a clock that jumped forward, so that nothing is deleted by age.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Collection
from datetime import UTC, datetime
from typing import Protocol

LONGEST_GAP = 30 * 86_400.0
"""A longer time without records may be a wrong clock."""


def may_have_jumped(times: Collection[float], now: float) -> bool:
    """Whether the clock may have jumped forward since these times, so that nothing may be deleted by age.

    Records made after the jump prove nothing, until the same time has passed with a right clock.
    """
    last = max((time for time in times if time < now - LONGEST_GAP), default=None)
    if last is None:
        return False
    following = min((time for time in times if time > last), default=now)
    return min(following, now) - last > LONGEST_GAP


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds that never jump, for measuring and waiting."""

    def now(self) -> datetime:
        """The time of day in UTC, for display and records."""

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait; the time counts from the call, not from the `await`."""


class SystemClock:
    """The machine's time; waits are not affected by changes of the wall clock."""

    monotonic = staticmethod(time.monotonic)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> Awaitable[None]:
        return asyncio.sleep(seconds)

"""Time as an argument: whatever waits or records times takes a `Clock`, so that tests can control it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Protocol


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

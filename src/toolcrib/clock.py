"""Time as an argument: everything that waits or stamps takes a `Clock`, so that tests can turn it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def monotonic(self) -> float:
        """Seconds that never jump; for measuring and waiting."""

    def now(self) -> datetime:
        """The time of day in UTC; for showing and recording."""

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait; the time counts from the call, not from the `await`."""


class SystemClock:
    """The machine's own time. Waits are monotonic: a jump of the wall clock moves nothing."""

    monotonic = staticmethod(time.monotonic)
    """Seconds that never jump."""

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Wait."""
        return asyncio.sleep(seconds)

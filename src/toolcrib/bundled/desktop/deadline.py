"""Deadlines that count only the time in which this machine ran programs at all. Decides how much longer
programs may take on a busy machine.

An overloaded, suspended or throttled machine stops other programs and this process alike, sometimes for
seconds. A program that had no chance to answer must not count as hung, so a wait counts at most a fixed part
of each pause between two looks at the clock.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from types import TracebackType

STEP = 0.1
"""Seconds between two looks at the clock."""
COUNTED = 2 * STEP
"""At most this much of the time between two looks counts; the rest is a stall of the machine."""


SLOWEST = 8.0


def slowness() -> float:
    """How many times longer than on a quiet machine a program may need, from the load; 1 if it is unknown."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(max(1.0, load / (os.cpu_count() or 1)), SLOWEST)


class Deadline:
    """For a thread that looks at it at least every `STEP` seconds."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._last = time.monotonic()

    def look(self) -> float:
        """Seconds left; not more than 0 if the deadline has passed."""
        now = time.monotonic()
        self._left -= min(now - self._last, COUNTED)
        self._last = now
        return self._left


def wait_until(condition: Callable[[], bool], seconds: float, pause: float) -> bool:
    """Look at a condition again and again; False if it is not met in time. Blocks the thread."""
    deadline = Deadline(seconds)
    while not condition():
        if deadline.look() <= 0:
            return False
        time.sleep(pause)
    return True


class PatientTimeout:
    """Like `asyncio.timeout`; raises `TimeoutError`."""

    def __init__(self, seconds: float) -> None:
        self._scope = asyncio.timeout(None)
        self._deadline = Deadline(seconds)
        self._left = seconds
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> None:
        await self._scope.__aenter__()
        self._arm()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._scope.__aexit__(kind, error, traceback)

    def _arm(self) -> None:
        self._timer = self._loop.call_later(min(STEP, max(0.0, self._left)), self._look)

    def _look(self) -> None:
        self._left = self._deadline.look()
        if self._left > 0:
            self._arm()
        elif not self._scope.expired():
            self._scope.reschedule(self._loop.time())

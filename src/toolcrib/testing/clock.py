"""A clock that only moves when a test turns it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta


class TurnedClock:
    """Implements `toolcrib.clock.Clock`; `turn` moves time and wakes due sleepers."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 1, 1, tzinfo=UTC)
        self._monotonic = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def monotonic(self) -> float:
        return self._monotonic

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> asyncio.Future[None]:
        self._count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, self._count, future))
        return future

    def turn(self, seconds: float) -> None:
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)
        while self._sleepers and self._sleepers[0][0] <= self._monotonic:
            _, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)

    def jump(self, seconds: float) -> None:
        """Change only the time of day, as a time server might."""
        self._now += timedelta(seconds=seconds)

    @property
    def next_wake(self) -> float | None:
        """Seconds until the next sleeper is due; None if there is none."""
        waiting = [when for when, _, future in self._sleepers if not future.done()]
        return min(waiting) - self._monotonic if waiting else None

"""How many servers start at once: few enough that the first is soon usable, more while the machine is idle.

A start counts as long as it is likely to be using a processor. When the processors have been idle for a
moment, or a start has been at it for long, the oldest start no longer counts and the next one begins; so
servers that hang, or wait for a network, keep nobody from starting.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE = 0.5
TICK = 0.015
IDLE_TICKS = 1
"""Ticks of the kernel (10 ms each, over all processors) spent idle between two looks that count as idle."""
_STAT = Path("/proc/stat")


class StartSlots:
    """A number of starts that count at once; the rest waits in order."""

    def __init__(self, count: int, patience: float = PATIENCE) -> None:
        self._free = count
        self._patience = patience
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._counted: dict[object, float] = {}
        self._ticker: asyncio.TimerHandle | None = None
        self._idle_before: int | None = None

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn, then count while the block runs, or until nothing is gained by it."""
        await self._turn()
        start = object()
        self._counted[start] = asyncio.get_running_loop().time()
        try:
            yield
        finally:
            self._uncount(start)

    async def _turn(self) -> None:
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._keep_ticking()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back()
            raise

    def _uncount(self, start: object) -> None:
        if self._counted.pop(start, None) is not None:
            self._give_back()

    def _give_back(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _keep_ticking(self) -> None:
        if self._ticker is None and self._waiting:
            self._idle_before = _idle_ticks()
            self._ticker = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        before, now = self._idle_before, _idle_ticks()
        idle = before is not None and now is not None and now - before >= IDLE_TICKS
        if self._counted:
            oldest, since = next(iter(self._counted.items()))
            if idle or asyncio.get_running_loop().time() - since >= self._patience:
                self._uncount(oldest)
        self._keep_ticking()


def _idle_ticks() -> int | None:
    """Time the processors have spent doing nothing, as Linux counts it; None elsewhere."""
    try:
        with _STAT.open("rb") as file:
            return int(file.readline().split()[4])
    except (OSError, ValueError, IndexError):
        return None

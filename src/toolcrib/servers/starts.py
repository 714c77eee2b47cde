"""How many servers start at once: few enough that the first is soon usable, more while the machine is idle.

A start counts as long as it is using a processor. It no longer counts, and the next one begins, when its
process has been idle for a moment, when the machine has, or when it has been at it for long; so servers that
hang, or wait for a network, keep nobody from starting, and busy ones are not slowed down by too many others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

PATIENCE = 0.5
TICK = 0.015
PROCESS_IDLE_AFTER = 0.045
"""The kernel counts in steps of 10 ms; one that gets half a processor shows up every 20."""
_PROC = Path("/proc")


class Start:
    """One start that counts; tell it which process it `uses` as soon as there is one."""

    def __init__(self, now: float) -> None:
        self.began = now
        self._pid: int | None = None
        self._ticks: int | None = None
        self._busy_at = now

    def uses(self, pid: int) -> None:
        """The start goes on in this process."""
        self._pid = pid

    def idle_for(self, now: float) -> float:
        """Seconds since its process was last seen to be using a processor; 0 when that cannot be told."""
        ticks = _process_ticks(self._pid) if self._pid is not None else None
        if ticks is None or ticks != self._ticks:
            self._ticks, self._busy_at = ticks, now
        return now - self._busy_at


class StartSlots:
    """A number of starts that count at once; the rest waits in order."""

    def __init__(self, count: int, patience: float = PATIENCE) -> None:
        self._free = count
        self._patience = patience
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._counted: dict[Start, None] = {}
        self._ticker: asyncio.TimerHandle | None = None
        self._idle_before: int | None = None

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Start]:
        """Wait for a turn, then count while the block runs, or until nothing is gained by it."""
        await self._turn()
        start = Start(asyncio.get_running_loop().time())
        self._counted[start] = None
        try:
            yield start
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

    def _uncount(self, start: Start) -> None:
        if start in self._counted:
            del self._counted[start]
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
            self._idle_before = _machine_idle_ticks()
            self._ticker = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        now = asyncio.get_running_loop().time()
        before, after = self._idle_before, _machine_idle_ticks()
        machine_idle = before is not None and after is not None and after > before
        for start in list(self._counted):
            idle = start.idle_for(now) >= PROCESS_IDLE_AFTER
            if machine_idle or idle or now - start.began >= self._patience:
                self._uncount(start)
                machine_idle = False  # one more at a time: what it takes shows at the next look
        self._keep_ticking()


def _machine_idle_ticks() -> int | None:
    """Time the processors have spent doing nothing, as Linux counts it; None elsewhere."""
    try:
        with (_PROC / "stat").open("rb") as file:
            return int(file.readline().split()[4])
    except (OSError, ValueError, IndexError):
        return None


def _process_ticks(pid: int) -> int | None:
    """Time a process has spent on a processor, as Linux counts it; None elsewhere, or when it is gone."""
    try:
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[11]) + int(fields[12])
    except (OSError, ValueError, IndexError):
        return None

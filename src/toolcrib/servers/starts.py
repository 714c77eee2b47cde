"""Limits how many servers start at once, so that the first is ready soon and idle processors are used.
Decides how long a start holds its slot.

A start holds its slot while its process uses a processor. It gives the slot up when the process was asleep at
two checks in a row, writes output that is not protocol, takes too long, or, once a server is ready, when a
processor is idle. So a server that hangs or waits for the network does not delay the others.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from toolcrib.servers.processes.orphans import stat_of

PATIENCE = 0.5
BUSY_FACTOR = 4
"""A busy start may take longer: another one beside it would slow it down."""
TICK = 0.005
CHECKS_ASLEEP = 2
"""A single check may hit a short wait for a file."""
HEAD_START = 0.02
"""The longest that the host's other work waits for the first process; a few milliseconds are usual."""
FIRST_CALL_PAUSE = 0.005
"""Pause after the first server is ready, so that a waiting caller can use it at once."""
MAX_PROCESSES = 16
"""Processes checked for each start; a launcher has a few."""
_PROC = Path("/proc")
_RUNNING = re.compile(rb"^procs_running (\d+)$", re.MULTILINE)
_AT_WORK = (b"R", b"D")


class Workload:
    """The processor use of a process and its children."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._ticks: int | None = None

    def at_work(self) -> bool | None:
        """Whether any of them runs or has run since the last check; None if unknown."""
        ticks, running, found = 0, False, 0
        waiting = [self._pid]
        while waiting and found < MAX_PROCESSES:
            pid = waiting.pop()
            seen = _usage(pid)
            if seen is None:
                continue
            found += 1
            running = running or seen[0]
            ticks += seen[1]
            waiting += _children(pid)
        if not found:
            return None
        before, self._ticks = self._ticks, ticks
        return running or ticks != before


def processor_is_idle() -> bool:
    """Whether a processor is idle, not counting this process; False if unknown."""
    try:
        found = _RUNNING.search((_PROC / "stat").read_bytes())
    except OSError:
        return False
    return found is not None and int(found[1]) - 1 < len(os.sched_getaffinity(0))


def _usage(pid: int) -> tuple[bool, int] | None:
    """Whether its main thread runs, and the processor time of all threads; None if the process is gone."""
    fields = stat_of(pid)
    return None if not fields else (fields[0] in _AT_WORK, int(fields[11]) + int(fields[12]))


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_bytes().split()]
    except (OSError, ValueError):
        return []


class StartSlot:
    """One start; call `uses` as soon as its process exists."""

    def __init__(self, now: float, patience: float, on_process: Callable[[], None]) -> None:
        self._began = now
        self._patience = patience
        self._on_process = on_process
        self._workload: Workload | None = None
        self._asleep = 0
        self._junk = False

    def uses(self, pid: int) -> None:
        self._workload, self._asleep = Workload(pid), 0
        self._on_process()

    def wrote_junk(self) -> None:
        """It writes output that is not protocol, so it may never be ready."""
        self._junk = True

    def should_release(self, now: float) -> bool:
        """Whether its process is asleep, writes junk or takes too long."""
        working = self._workload.at_work() if self._workload is not None else None
        self._asleep = self._asleep + 1 if working is False else 0
        patience = self._patience * (BUSY_FACTOR if working else 1)
        return self._asleep >= CHECKS_ASLEEP or self._junk or now - self._began >= patience


class StartSlots:
    """A limited number of slots; further starts wait in order."""

    def __init__(
        self, count: int, patience: float = PATIENCE, is_idle: Callable[[], bool] = processor_is_idle
    ) -> None:
        self._free = count
        self._patience = patience
        self._is_idle = is_idle
        self._one_is_ready = False
        self._head_start_given = False
        self._progress = asyncio.Event()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._counted: dict[StartSlot, None] = {}
        self._ticker: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[StartSlot]:
        """Wait for a slot and hold it while the block runs, or until `StartSlot.should_release`."""
        await self._turn()
        start = StartSlot(asyncio.get_running_loop().time(), self._patience, self._has_process)
        self._counted[start] = None
        try:
            yield start
            self._on_ready(start)
        finally:
            self._uncount(start)
            self._progress.set()

    async def first_process(self) -> None:
        """Wait until any start has its process or is over, at most `HEAD_START` seconds and only once.

        The host's work for the other servers would slow down the first; it can be done while that process
        loads its program.
        """
        if self._head_start_given:
            return
        self._progress.clear()
        try:
            async with asyncio.timeout(HEAD_START):
                await self._progress.wait()
        except TimeoutError:
            self._head_start_given = True

    def _has_process(self) -> None:
        self._head_start_given = True
        self._progress.set()

    def _on_ready(self, start: StartSlot) -> None:
        first, self._one_is_ready = not self._one_is_ready, True
        if first and start in self._counted:
            del self._counted[start]
            asyncio.get_running_loop().call_later(FIRST_CALL_PAUSE, self._give_back)

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

    def _uncount(self, start: StartSlot) -> None:
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
            self._ticker = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        now = asyncio.get_running_loop().time()
        # Not before the first server is ready: even on its own processor, a second start was measured to slow
        # the first by a quarter.
        spare = self._one_is_ready and self._is_idle()
        for start in list(self._counted):
            if start.should_release(now):
                self._uncount(start)
            elif spare:
                spare = False  # one at a time: its effect shows at the next check
                self._uncount(start)
        self._keep_ticking()

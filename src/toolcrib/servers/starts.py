"""How many servers start at once: few enough that the first is soon usable, more while the machine is idle.

A start counts as long as it is using a processor. It no longer counts, and the next one begins, when its
process was found sleeping twice, when it writes rubbish, when it has been at it for long, or, once a server
is up, when a processor has nothing to do. So servers that hang, or wait for a network, keep nobody from
starting, and busy ones are not slowed down by too many others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from toolcrib.servers.processes.cpu import Workload, processor_to_spare

PATIENCE = 0.5
BUSY_FACTOR = 4
"""More patience with a start that is seen to be at work: another one beside it would slow it down."""
TICK = 0.005
LOOKS_ASLEEP = 2
"""One look may fall into a short wait for a file."""
HEAD_START = 0.02
"""The host's other work waits this long at most for the very first process; a few milliseconds are usual."""
BREATH = 0.005
"""Between the first server that is up and the next start: whoever waits for a tool may call it right now."""


class Start:
    """One start that counts; tell it which process it `uses` as soon as there is one."""

    def __init__(self, now: float, patience: float, on_process: Callable[[], None]) -> None:
        self._began = now
        self._patience = patience
        self._on_process = on_process
        self._workload: Workload | None = None
        self._asleep = 0
        self._raves = False

    def uses(self, pid: int) -> None:
        """The start goes on in this process."""
        self._workload, self._asleep = Workload(pid), 0
        self._on_process()

    def raves(self) -> None:
        """It writes what is no message: however busy it is, it need not come to anything."""
        self._raves = True

    def is_no_reason_to_wait(self, now: float) -> bool:
        """Look at its process: asleep now and at the looks before, raving, or at it for too long."""
        working = self._workload.at_work() if self._workload is not None else None
        self._asleep = self._asleep + 1 if working is False else 0
        patience = self._patience * (BUSY_FACTOR if working else 1)
        return self._asleep >= LOOKS_ASLEEP or self._raves or now - self._began >= patience


class StartSlots:
    """A number of starts that count at once; the rest waits in order."""

    def __init__(
        self, count: int, patience: float = PATIENCE, to_spare: Callable[[], bool] = processor_to_spare
    ) -> None:
        self._free = count
        self._patience = patience
        self._to_spare = to_spare
        self._one_is_up = False
        self._head_start_given = False
        self._news = asyncio.Event()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._counted: dict[Start, None] = {}
        self._ticker: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Start]:
        """Wait for a turn, then count while the block runs, or until nothing is gained by it."""
        await self._turn()
        start = Start(asyncio.get_running_loop().time(), self._patience, self._has_process)
        self._counted[start] = None
        try:
            yield start
            self._is_up(start)
        finally:
            self._uncount(start)
            self._news.set()

    async def first_process(self) -> None:
        """Wait until any start has had its process, the one now under way is over, or for a moment at most.

        What the host has to do for the other servers would slow the very first one down; it can be done while
        that one's process loads its program. A server that has no process is waited for no more than once.
        """
        if self._head_start_given:
            return
        self._news.clear()
        try:
            async with asyncio.timeout(HEAD_START):
                await self._news.wait()
        except TimeoutError:
            self._head_start_given = True

    def _has_process(self) -> None:
        self._head_start_given = True
        self._news.set()

    def _is_up(self, start: Start) -> None:
        first, self._one_is_up = not self._one_is_up, True
        if first and start in self._counted:
            del self._counted[start]
            asyncio.get_running_loop().call_later(BREATH, self._give_back)

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
            self._ticker = asyncio.get_running_loop().call_later(TICK, self._tick)

    def _tick(self) -> None:
        self._ticker = None
        now = asyncio.get_running_loop().time()
        # Before anything can be called, nobody gets in the way of who is first: even on a processor of its
        # own, a second start was measured to slow the first by a quarter.
        spare = self._one_is_up and self._to_spare()
        for start in list(self._counted):
            if start.is_no_reason_to_wait(now):
                self._uncount(start)
            elif spare:
                spare = False  # one more at a time: what it takes shows at the next look
                self._uncount(start)
        self._keep_ticking()

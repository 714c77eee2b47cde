"""Measures the CPU time that a coroutine uses for one server, and pauses it if it uses more than its share,
such as a server that floods the host with messages. Has the share, the reserve, and what is free.

What an expected answer costs is free. Everything else (unrequested messages, comments, an event or a header
without end) is charged, wherever it is spent: in the HTTP library, in the parser or in the receiver.

Answers to our requests are free, because their number is limited by what we asked. Notifications, requests
and output that is no message are not: a server that floods would delay every other server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from time import thread_time
from typing import Any, Generic, TypeVar

SHARE = 0.1
"""The share of the loop's time that one server gets for unsolicited messages."""
BURST = 0.2
"""Seconds of work that it may save up."""
THREAD_WEIGHT = 5.0
"""What parsing in a thread counts: the loop waits for the interpreter's lock again and again meanwhile."""
CALM = 10.0
"""Seconds without a pause after which a server no longer counts as flooding."""

T = TypeVar("T")

SLICE = 0.001
"""Seconds of work before others get their turn."""
EXCHANGE = 0.02
"""Free seconds of a request that we make: its connection, its headers and a small answer."""
MAX_REPLIES = 8
"""Replies to requests of the server that are sent at once."""
ANSWER = 0.002
"""Free seconds of an answer on a shared stream."""
PER_BYTE = 40e-9
"""Free seconds for each byte of a large answer: twice what a stream of full packets needs."""
LARGEST_FREE = 64 * 1024 * 1024
"""The rest of a larger answer is charged, because it may have no end."""


class FlowMeter:
    """A budget of processing time, which refills at a constant rate."""

    def __init__(
        self, report: Callable[[bool], None], *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._report = report
        self._clock = clock
        self._level = BURST
        self._since = clock()
        self.flooding = False
        self._last_pause = 0.0
        self._first_pause = 0.0

    @property
    def throttled(self) -> float:
        """For how many seconds the server has been read slowly; 0 if it does not flood."""
        return self._clock() - self._first_pause if self.flooding else 0.0

    def spend(self, seconds: float) -> float:
        """Use up some of the budget; returns how long to pause before more is read."""
        now = self._clock()
        self._level = min(BURST, self._level + (now - self._since) * SHARE) - seconds
        self._since = now
        if self._level < 0:
            self._paused(now)
            return -self._level / SHARE
        if self.flooding and now - self._last_pause > CALM:
            self.flooding = False
            self._report(False)
        return 0.0

    def _paused(self, now: float) -> None:
        self._last_pause = now
        if not self.flooding:
            self.flooding = True
            self._first_pause = now
            self._report(True)


class ServerShare:
    """The share of one connection; all its coroutines spend from it."""

    def __init__(self, report: Callable[[bool], None]) -> None:
        """`report` is called when the server begins to flood, and when it has calmed down."""
        self._meter = FlowMeter(report)
        self._calm_check: asyncio.TimerHandle | None = None

    @property
    def throttled(self) -> float:
        return self._meter.throttled

    def metered(
        self, work: Coroutine[Any, Any, T], *, free: float = 0.0, answer_expected: bool = False
    ) -> Metered[T]:
        """Await this instead of `work`; `free` seconds of it are not charged."""
        return Metered(work, self, free, answer_expected)

    def spend(self, seconds: float) -> float:
        """Charge some time; returns how long to pause."""
        pause = self._meter.spend(seconds)
        if pause and self._calm_check is None:
            self._watch_calm()
        return pause

    def close(self) -> None:
        if self._calm_check is not None:
            self._calm_check.cancel()

    def _watch_calm(self) -> None:
        self._calm_check = asyncio.get_running_loop().call_later(CALM, self._check_calm)

    def _check_calm(self) -> None:
        """A server that falls silent has calmed down too."""
        self._calm_check = None
        self._meter.spend(0.0)
        if self._meter.flooding:
            self._watch_calm()


class Metered(Generic[T]):
    """Runs a coroutine in the task that awaits this, and pauses between its steps."""

    def __init__(
        self, work: Coroutine[Any, Any, T], share: ServerShare, free: float, answer_expected: bool
    ) -> None:
        self._work = work
        self._share = share
        self._free = free
        self._lent = self._limit = 0.0
        """Spent on an unfinished event that may be the expected answer, and how much may be."""
        self.answer_expected = answer_expected
        self._began = 0.0

    def __await__(self) -> Generator[Any, Any, T]:
        outer = _running.get()
        _running.set(self)
        try:
            return (yield from self._steps(self._work.__await__()))
        finally:
            _running.set(outer)

    def _steps(self, work: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        error: BaseException | None = None
        while True:
            self._began = thread_time()
            try:
                waits_for = work.send(None) if error is None else work.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                pause = self._charge(thread_time() - self._began)
            error = None
            try:
                if pause:
                    yield from asyncio.sleep(pause).__await__()
                yield waits_for
            except BaseException as thrown:  # noqa: BLE001 - belongs to the coroutine
                error = thrown

    def due(self) -> bool:
        """Whether others should get their turn."""
        return thread_time() - self._began > SLICE

    def receiving(self, size: int) -> None:
        """This many bytes of an unfinished event have arrived."""
        self._limit = min(size, LARGEST_FREE) * PER_BYTE if self.answer_expected else 0.0

    def received(self, *, answer: bool) -> None:
        """The event is complete; only an expected answer was free."""
        if answer:
            self._free += ANSWER
        elif self._lent:
            self._free -= self._lent
        self._lent = self._limit = 0.0

    def add(self, seconds: float) -> None:
        """Charge also what was spent elsewhere, as in a thread."""
        self._free -= seconds

    def _charge(self, seconds: float) -> float:
        free = self._free
        if seconds <= free:
            self._free = free - seconds
            return 0.0
        seconds -= free
        self._free = 0.0
        lent = max(0.0, min(seconds, self._limit - self._lent))
        self._lent += lent
        return self._share.spend(seconds - lent) if seconds > lent else 0.0


_running: ContextVar[Metered[Any] | None] = ContextVar("metered", default=None)


def running() -> Metered[Any] | None:
    """The innermost metered coroutine of this task."""
    return _running.get()


def note_event(*, answer: bool) -> None:
    """An event was handled; `answer` if it was expected."""
    metered = _running.get()
    if metered is not None:
        metered.received(answer=answer)


async def take_turns() -> None:
    """Let others run if this task has worked for long."""
    metered = _running.get()
    if metered is not None and metered.due():
        await asyncio.sleep(0)

"""Measures the CPU time that a coroutine uses for one server, and pauses it if it uses more than its share.

What an expected answer costs is free. Everything else (unrequested messages, comments, an event or a header
without end) is charged, wherever it is spent: in the HTTP library, in the parser or in the receiver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextvars import ContextVar
from time import thread_time
from typing import Any, Generic, TypeVar

from toolcrib.servers.flow import CALM, FlowMeter
from toolcrib.servers.transport import LinkContext

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


class ServerShare:
    """The share of one connection; all its coroutines spend from it."""

    def __init__(self, context: LinkContext) -> None:
        self._meter = FlowMeter(context.on_flood)
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

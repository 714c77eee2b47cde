"""One request on its way: who waits for it, until when, and who hears of its progress.

The clock stands still while the other side waits for us, and starts anew with each sign of progress, though
never beyond a last moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable
from typing import Any

_NEAR = 0.002
"""Seconds by which a timer may come too early: event loops count in milliseconds."""

OnProgress = Callable[[float, float | None, str | None], None]


class Deadlines:
    """Those of all requests of one conversation, with one timer of the loop: to make and cancel one for each
    request would cost a quick call more than its own work does."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._timers: set[Timer] = set()
        self._handle: asyncio.TimerHandle | None = None
        self._rings_at = 0.0

    def begin(self, future: asyncio.Future[Any], seconds: float) -> Timer:
        """A deadline for this future, so many seconds from now."""
        timer = Timer(self, future, self.loop.time() + seconds)
        self._timers.add(timer)
        return timer

    def forget(self, timer: Timer) -> None:
        """It was kept, or is no longer of interest."""
        self._timers.discard(timer)

    def close(self) -> None:
        """There is nothing left to wait for."""
        self._timers.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def watch(self, when: float) -> None:
        """Look at all of them then, if not before."""
        if self._handle is None or when < self._rings_at:
            if self._handle is not None:
                self._handle.cancel()
            self._rings_at = when
            self._handle = self.loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._handle = None
        now = self.loop.time()
        for timer in tuple(self._timers):
            when = timer.when()
            if when is None:
                continue
            if when - now > _NEAR:
                self.watch(when)
            else:
                timer.expire()


class Timer:
    """A deadline for a future alone: cheaper than one for a task, and used like `asyncio.Timeout`."""

    __slots__ = ("_at", "_deadlines", "_future")

    def __init__(self, deadlines: Deadlines, future: asyncio.Future[Any], at: float) -> None:
        self._deadlines = deadlines
        self._future = future
        self._at: float | None = at
        deadlines.watch(at)

    def when(self) -> float | None:
        """When it expires, by the loop's clock; None while it stands still."""
        return self._at

    def reschedule(self, when: float | None) -> None:
        """Expire then instead; None stops it. Once the future is done there is nothing left to expire."""
        self._at = None if self._future.done() else when
        if self._at is not None:
            self._deadlines.watch(self._at)

    def cancel(self) -> None:
        """Never expire."""
        self._deadlines.forget(self)

    def expire(self) -> None:
        """The time is over."""
        self._deadlines.forget(self)
        if not self._future.done():
            self._future.set_exception(TimeoutError())


class Pending:
    """What is known of the request; `patience` None marks one that is open-ended."""

    __slots__ = (
        "context",
        "deadline",
        "future",
        "held_since",
        "holds",
        "latest",
        "left",
        "on_progress",
        "patience",
    )

    def __init__(self, future: asyncio.Future[Any], patience: float | None, on_progress: OnProgress | None):
        self.future = future
        self.context = contextvars.copy_context()
        """Of whoever sent the request: a question of the other side is asked on its behalf."""
        self.patience = patience
        self.on_progress = on_progress
        self.deadline: asyncio.Timeout | Timer | None = None
        self.latest = 0.0
        self.holds = 0
        self.held_since = 0.0
        self.left = 0.0

    def hold(self, now: float) -> None:
        """Stop the clock; several may hold it at once."""
        self.holds += 1
        if self.holds == 1 and self.deadline is not None and self.patience is not None:
            self.held_since, self.left = now, (self.deadline.when() or now) - now
            _reschedule(self.deadline, None)

    def release(self, now: float) -> None:
        """Let the clock run on where it stood, once nobody holds it any more."""
        self.holds -= 1
        if self.holds == 0 and self.deadline is not None and self.patience is not None:
            self.latest += now - self.held_since
            _reschedule(self.deadline, now + self.left)

    def progressed(self, now: float) -> None:
        """Wait as long again, but not beyond the last moment."""
        if self.deadline is None or self.patience is None:
            return
        if self.holds:
            self.left = min(self.patience, self.latest - self.held_since)
        else:
            _reschedule(self.deadline, min(now + self.patience, self.latest))


def _reschedule(deadline: asyncio.Timeout | Timer, when: float | None) -> None:
    with contextlib.suppress(RuntimeError):  # it has just expired or its block was just left
        deadline.reschedule(when)

"""One request on its way: who waits for it, until when, and who hears of its progress.

The clock stands still while the other side waits for us, and starts anew with each sign of progress, though
never beyond a last moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

_NEAR = 0.002
"""Seconds by which a timer may come too early: event loops count in milliseconds."""

OnProgress = Callable[[float, float | None, str | None], None]


class Deadlines:
    """Those of all requests of one conversation, with one timer of the loop: to make and cancel one for each
    request would cost a quick call more than its own work does."""

    def __init__(self, loop: asyncio.AbstractEventLoop, requests: Mapping[Any, Pending]) -> None:
        self.loop = loop
        self._requests = requests
        self._handle: asyncio.TimerHandle | None = None
        self.rings_at = inf
        self._nobodys = contextvars.Context()
        """Else the timer would keep alive whatever the first request was sent for."""

    def watch(self, when: float) -> None:
        """Look at all of them then, if not before."""
        if when < self.rings_at:
            if self._handle is not None:
                self._handle.cancel()
            self.rings_at = when
            self._handle = self.loop.call_at(when, self._ring, context=self._nobodys)

    def close(self) -> None:
        """There is nothing left to wait for."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle, self.rings_at = None, inf

    def _ring(self) -> None:
        self._handle, self.rings_at = None, inf
        now = self.loop.time()
        for request in tuple(self._requests.values()):
            if request.at is None or request.future.done():
                continue
            if request.at - now > _NEAR:
                self.watch(request.at)
            else:
                request.future.set_exception(TimeoutError())


class Pending:
    """What is known of the request; `patience` None marks one that is open-ended."""

    __slots__ = (
        "_deadlines",
        "at",
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
        self.deadline: asyncio.Timeout | None = None
        """Where its task is under one."""
        self.at: float | None = None
        """When it expires by itself, by the loop's clock; None while it does not."""
        self._deadlines: Deadlines | None = None
        self.latest = 0.0
        self.holds = 0

    def begin(self, deadlines: Deadlines, seconds: float) -> None:
        """Let it expire so many seconds from now: cheaper than a deadline for a task."""
        self._deadlines = deadlines
        self.at = at = deadlines.loop.time() + seconds
        if at < deadlines.rings_at:
            deadlines.watch(at)

    def hold(self, now: float) -> None:
        """Stop the clock; several may hold it at once."""
        self.holds += 1
        if self.holds == 1 and self.patience is not None:
            self.held_since, self.left = now, (self._when() or now) - now
            self._reschedule(None)

    def release(self, now: float) -> None:
        """Let the clock run on where it stood, once nobody holds it any more."""
        self.holds -= 1
        if self.holds == 0 and self.patience is not None:
            self.latest += now - self.held_since
            self._reschedule(now + self.left)

    def progressed(self, now: float) -> None:
        """Wait as long again, but not beyond the last moment."""
        if self.patience is None:
            return
        if self.holds:
            self.left = min(self.patience, self.latest - self.held_since)
        else:
            self._reschedule(min(now + self.patience, self.latest))

    def _when(self) -> float | None:
        return self.at if self.deadline is None else self.deadline.when()

    def _reschedule(self, when: float | None) -> None:
        """Expire then instead; None stops it. Once there is an answer nothing is left to expire."""
        if self.deadline is not None:
            with contextlib.suppress(RuntimeError):  # it has just expired or its block was just left
                self.deadline.reschedule(when)
        elif self._deadlines is not None:
            self.at = None if self.future.done() else when
            if self.at is not None:
                self._deadlines.watch(self.at)

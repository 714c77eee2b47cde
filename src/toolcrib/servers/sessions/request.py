"""A pending request: its future, its timeout and its progress callback.

The timeout is paused while the other side waits for us, and restarts with each progress report, up to a
limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

_NEAR = 0.002
"""Seconds by which a timer may fire early: event loops count in milliseconds."""

OnProgress = Callable[[float, float | None, str | None], None]


class Deadlines:
    """The timeouts of all requests of one connection with a single timer: one for each request would cost
    more than the rest of a quick call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, requests: Mapping[Any, Pending]) -> None:
        self.loop = loop
        self._requests = requests
        self._handle: asyncio.TimerHandle | None = None
        self.rings_at = inf
        self._context = contextvars.Context()
        """An empty context: otherwise the timer would keep the first request's context alive."""

    def watch(self, when: float) -> None:
        """Check all timeouts at this time, or earlier."""
        if when < self.rings_at:
            if self._handle is not None:
                self._handle.cancel()
            self.rings_at = when
            self._handle = self.loop.call_at(when, self._ring, context=self._context)

    def close(self) -> None:
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
    """One request; `patience` is None for an open stream."""

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
        """The sender's context: a question of the other side is asked for that sender."""
        self.patience = patience
        self.on_progress = on_progress
        self.deadline: asyncio.Timeout | None = None
        """The timeout of the sending task, if it has one."""
        self.at: float | None = None
        """When it times out, by the loop's clock; None if paused or handled by `deadline`."""
        self._deadlines: Deadlines | None = None
        self.latest = 0.0
        self.holds = 0

    def begin(self, deadlines: Deadlines, seconds: float) -> None:
        """Time out after `seconds`: cheaper than a task timeout."""
        self._deadlines = deadlines
        self.at = at = deadlines.loop.time() + seconds
        if at < deadlines.rings_at:
            deadlines.watch(at)

    def hold(self, now: float) -> None:
        """Pause the timeout; calls nest."""
        self.holds += 1
        if self.holds == 1 and self.patience is not None:
            self.held_since, self.left = now, (self._when() or now) - now
            self._reschedule(None)

    def release(self, now: float) -> None:
        """Resume the timeout after the last `hold`."""
        self.holds -= 1
        if self.holds == 0 and self.patience is not None:
            self.latest += now - self.held_since
            self._reschedule(now + self.left)

    def progressed(self, now: float) -> None:
        """Restart the timeout, up to `latest`."""
        if self.patience is None:
            return
        if self.holds:
            self.left = min(self.patience, self.latest - self.held_since)
        else:
            self._reschedule(min(now + self.patience, self.latest))

    def _when(self) -> float | None:
        return self.at if self.deadline is None else self.deadline.when()

    def _reschedule(self, when: float | None) -> None:
        """Change the time of the timeout; None pauses it. No effect once answered."""
        if self.deadline is not None:
            with contextlib.suppress(RuntimeError):  # it has just expired, or its block has ended
                self.deadline.reschedule(when)
        elif self._deadlines is not None:
            self.at = None if self.future.done() else when
            if self.at is not None:
                self._deadlines.watch(self.at)

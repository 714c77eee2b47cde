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

OnProgress = Callable[[float, float | None, str | None], None]


class Timer:
    """A deadline for a future alone: cheaper than one for a task, and used like `asyncio.Timeout`."""

    __slots__ = ("_future", "_handle", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], seconds: float) -> None:
        self._loop = loop
        self._future = future
        self._handle: asyncio.TimerHandle | None = loop.call_later(seconds, self._expire)

    def when(self) -> float | None:
        """When it expires, by the loop's clock; None while it stands still."""
        return None if self._handle is None else self._handle.when()

    def reschedule(self, when: float | None) -> None:
        """Expire then instead; None stops it. Once the future is done there is nothing left to expire."""
        self.cancel()
        if when is None or self._future.done():
            self._handle = None
        else:
            self._handle = self._loop.call_at(when, self._expire)

    def cancel(self) -> None:
        """Never expire."""
        if self._handle is not None:
            self._handle.cancel()

    def _expire(self) -> None:
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

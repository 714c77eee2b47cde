"""One deadline of a connection, which moves with every request and costs almost nothing to move."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_TOLERANCE = 0.002
"""Seconds by which a timer may fire early: event loops count in milliseconds."""


class Deadline:
    """Runs one action at one time. A timer that fires before a deadline that was moved is set again; moving
    the deadline itself touches no timer."""

    __slots__ = ("_at", "_fires_at", "_loop", "_timer", "action")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.action: Callable[[], object] | None = None
        """None for no deadline."""
        self._timer: asyncio.TimerHandle | None = None
        self._at = self._fires_at = 0.0

    def set(self, seconds: float, action: Callable[[], object]) -> None:
        """Run this after so many seconds, instead of the action before."""
        self.action = action
        self._at = at = self._loop.time() + seconds
        if self._timer is None or at < self._fires_at:
            self._arm()

    def close(self) -> None:
        self.action = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_at(self._at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        action = self.action
        if action is None:
            return
        if self._at - self._loop.time() > _TOLERANCE:
            self._arm()
            return
        self.action = None
        action()

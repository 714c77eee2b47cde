"""One deadline of a connection, which moves with every request and costs next to nothing to move."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_NEAR = 0.002
"""Seconds by which a timer may come too early: event loops count in milliseconds."""


class Alarm:
    """Does one thing at one time. A timer that comes before a deadline that was moved is set anew; until then
    nothing was spent on it."""

    __slots__ = ("_action", "_at", "_loop", "_rings_at", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._action: Callable[[], object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._at = self._rings_at = 0.0

    def set(self, seconds: float, action: Callable[[], object]) -> None:
        """Do this after so many seconds, instead of what was to be done before."""
        self._action = action
        self._at = at = self._loop.time() + seconds
        if self._timer is None or at < self._rings_at:
            self._arm()

    def clear(self) -> None:
        """There is nothing to be done."""
        self._action = None

    def close(self) -> None:
        """Never ring."""
        self._action = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = self._at
        self._timer = self._loop.call_at(self._at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        action = self._action
        if action is None:
            return
        if self._at - self._loop.time() > _NEAR:
            self._arm()
            return
        self._action = None
        action()

"""Limits how much of the event loop the unrequested messages of one server may use.

Answers to our requests are free: their number is limited by what we asked. Notifications, requests and output
that is no message are not, and a server that floods would delay every other server.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SHARE = 0.1
"""The share of the loop's time that one server gets for what nobody asked for."""
BURST = 0.2
"""Seconds of work that it may save up."""
THREAD_WEIGHT = 5.0
"""What parsing in a thread counts: the loop waits for the interpreter's lock again and again meanwhile."""
CALM = 10.0
"""Seconds without a pause after which a server no longer counts as flooding."""


class FlowMeter:
    """A budget of processing time, which refills at a constant rate."""

    def __init__(
        self, report: Callable[[bool], None], *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._report = report
        self._clock = clock
        self._level = BURST
        self._since = clock()
        self._flooding = False
        self._last_pause = 0.0
        self._first_pause = 0.0

    @property
    def flooding(self) -> bool:
        return self._flooding

    @property
    def throttled(self) -> float:
        """For how many seconds the server has been read slowly; 0 if it does not flood."""
        return self._clock() - self._first_pause if self._flooding else 0.0

    def spend(self, seconds: float) -> float:
        """Use up some of the budget; returns how long to pause before more is read."""
        now = self._clock()
        self._level = min(BURST, self._level + (now - self._since) * SHARE) - seconds
        self._since = now
        if self._level < 0:
            self._paused(now)
            return -self._level / SHARE
        if self._flooding and now - self._last_pause > CALM:
            self._flooding = False
            self._report(False)
        return 0.0

    def _paused(self, now: float) -> None:
        self._last_pause = now
        if not self._flooding:
            self._flooding = True
            self._first_pause = now
            self._report(True)

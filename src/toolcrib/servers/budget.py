"""Decides what comes after a failure: try again and when, or stop. Pure: time comes in, a verdict out."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.schema.servers import RestartPolicy, ServerState

SLOW_FIRST_DELAY = 30.0
SLOW_LONGEST_DELAY = 300.0
STEADY = 10.0
"""Seconds of being ready after which an end no longer counts as a start that failed."""


@dataclass(frozen=True)
class Verdict:
    """The state a server goes to, and after how many seconds it is tried again (None: not by itself)."""

    state: ServerState
    delay: float | None = None


class RestartBudget:
    """Remembers the recent failures of one server."""

    def __init__(self, policy: RestartPolicy, *, jitter: Callable[[], float] = random.random) -> None:
        self._policy = policy
        self._jitter = jitter
        self._crashes: deque[float] = deque()
        self._outages = 0
        self._slow = 0

    @property
    def crashes(self) -> int:
        """Failures that count, of `give_up_after`."""
        return 0 if self._slow else len(self._crashes)

    def reset(self) -> None:
        """Forget everything: a person asked for a fresh start."""
        self._crashes.clear()
        self._outages = 0
        self._slow = 0

    def after(self, error: ToolcribError, *, now: float, ready_for: float) -> Verdict:
        """The verdict on a server that ended with `error` after having been ready for so many seconds."""
        if ready_for >= self._policy.good_after:
            self.reset()
        if error.recovery == "configure":
            state = ServerState.NEEDS_CONFIG if isinstance(error, ConfigError) else ServerState.FAILED
            return Verdict(state)
        if error.recovery == "sign_in":
            return Verdict(ServerState.NEEDS_AUTH)
        if error.recovery == "retry_slowly":
            return self._after_outage(ready_for)
        return self._after_crash(now, ready_for)

    def _after_outage(self, ready_for: float) -> Verdict:
        """A remote host that is down is no crash: it is tried for ever, and uses up nothing."""
        self._outages = 0 if ready_for > 0 else self._outages + 1
        if self._outages == 0:
            return Verdict(ServerState.BACKOFF, self._jittered(1.0))
        delay = min(SLOW_FIRST_DELAY * 2 ** min(self._outages - 1, 16), SLOW_LONGEST_DELAY)
        return Verdict(ServerState.BACKOFF, self._jittered(delay))

    def _after_crash(self, now: float, ready_for: float) -> Verdict:
        if not self._policy.enabled:
            return Verdict(ServerState.FAILED)
        if ready_for >= STEADY:
            self._slow = 0
            return Verdict(ServerState.BACKOFF, self._jittered(self._policy.first_delay))
        self._crashes.append(now)
        while self._crashes and self._crashes[0] < now - self._policy.window:
            self._crashes.popleft()
        if self._slow or len(self._crashes) >= self._policy.give_up_after:
            return self._slowly()
        delay = min(self._policy.first_delay * 2 ** (len(self._crashes) - 1), self._policy.longest_delay)
        return Verdict(ServerState.BACKOFF, self._jittered(delay))

    def _slowly(self) -> Verdict:
        """It fails again and again: tried only now and then, until it has been ready for a while."""
        self._slow += 1
        delay = min(2 * SLOW_FIRST_DELAY * 2 ** min(self._slow - 1, 16), SLOW_LONGEST_DELAY)
        return Verdict(ServerState.BACKOFF, self._jittered(delay))

    def _jittered(self, delay: float) -> float:
        return delay * (1 + self._policy.jitter * (2 * self._jitter() - 1))

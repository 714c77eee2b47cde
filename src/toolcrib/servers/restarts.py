"""Decides what follows a failure: retry and after which pause, retry rarely after repeated crashes, or stop.
Also the error for a call to a server that is not ready. Pure: takes the time, returns a decision.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from toolcrib.errors import ConfigError, ServerNotReady, SpawnFailed, ToolcribError
from toolcrib.schema.servers import RestartPolicy, ServerState, ServerStatus

SLOW_FIRST_DELAY = 30.0
SLOW_LONGEST_DELAY = 300.0
STEADY = 10.0
"""Seconds in `ready` after which an exit no longer counts as a failed start."""


@dataclass(frozen=True)
class RestartDecision:
    """The next state, and the seconds until a retry (None: no automatic retry)."""

    state: ServerState
    delay: float | None = None


class RestartBudget:
    """The recent failures of one server."""

    def __init__(self, policy: RestartPolicy, *, jitter: Callable[[], float] = random.random) -> None:
        self._policy = policy
        self._jitter = jitter
        self._crashes: deque[float] = deque()
        self._outages = 0
        self._slow = 0

    @property
    def crashes(self) -> int:
        """Failures that count towards `give_up_after`."""
        return 0 if self._slow else len(self._crashes)

    def reset(self) -> None:
        """Forget all failures: the user asked for a fresh start."""
        self._crashes.clear()
        self._outages = 0
        self._slow = 0

    def after(self, error: ToolcribError, *, now: float, ready_for: float) -> RestartDecision:
        """The decision for a server that ended with `error` after `ready_for` seconds in `ready`."""
        if ready_for >= self._policy.good_after:
            self.reset()
        if isinstance(error, SpawnFailed) and self._policy.enabled:
            # Its command may be installed or repaired at any time.
            return RestartDecision(ServerState.FAILED, self._slow_delay())
        if error.recovery == "configure":
            state = ServerState.NEEDS_CONFIG if isinstance(error, ConfigError) else ServerState.FAILED
            return RestartDecision(state)
        if error.recovery == "sign_in":
            return RestartDecision(ServerState.NEEDS_AUTH)
        if error.recovery == "retry_slowly":
            return self._after_outage(ready_for)
        return self._after_crash(now, ready_for)

    def _after_outage(self, ready_for: float) -> RestartDecision:
        """An unreachable remote host is not a crash: it is retried forever."""
        if ready_for >= STEADY:
            self._outages = 0
            return RestartDecision(ServerState.BACKOFF, 0.0)
        self._outages += 1
        if self._outages == 1 and ready_for > 0:
            return RestartDecision(ServerState.BACKOFF, self._jittered(1.0))
        delay = min(SLOW_FIRST_DELAY * 2 ** min(self._outages - 1, 16), SLOW_LONGEST_DELAY)
        return RestartDecision(ServerState.BACKOFF, self._jittered(delay))

    def _after_crash(self, now: float, ready_for: float) -> RestartDecision:
        if not self._policy.enabled:
            return RestartDecision(ServerState.FAILED)
        if ready_for >= STEADY:
            self._slow = 0
            return RestartDecision(ServerState.BACKOFF, 0.0)
        self._crashes.append(now)
        while self._crashes and self._crashes[0] < now - self._policy.window:
            self._crashes.popleft()
        if self._slow or len(self._crashes) >= self._policy.give_up_after:
            return self._slowly()
        delay = min(self._policy.first_delay * 2 ** (len(self._crashes) - 1), self._policy.longest_delay)
        return RestartDecision(ServerState.BACKOFF, self._jittered(delay))

    def _slowly(self) -> RestartDecision:
        """Repeated failures: retry rarely, until the server has been ready for a while."""
        return RestartDecision(ServerState.BACKOFF, self._slow_delay())

    def _slow_delay(self) -> float:
        self._slow += 1
        delay = min(2 * SLOW_FIRST_DELAY * 2 ** min(self._slow - 1, 16), SLOW_LONGEST_DELAY)
        return self._jittered(delay)

    def _jittered(self, delay: float) -> float:
        return delay * (1 + self._policy.jitter * (2 * self._jitter() - 1))


HOPELESS = frozenset(
    {
        ServerState.DISABLED,
        ServerState.FAILED,
        ServerState.NEEDS_AUTH,
        ServerState.NEEDS_CONFIG,
        ServerState.NEEDS_TRUST,
    }
)
"""States that only the user can end."""


def not_ready(status: ServerStatus) -> ServerNotReady:
    """The error for a call to a server that is not ready."""
    hint = "Try again shortly."
    log = f"See its log with: toolcrib logs {status.name}"
    if status.state is ServerState.DISABLED:
        enable = f"Switch it on with: toolcrib enable {status.name}"
        return ServerNotReady(f"{status.name} is off.", hint=status.hint or enable)
    if status.state in HOPELESS:
        return ServerNotReady(f"{status.name} is not running: {status.reason}", hint=status.hint or log)
    if status.state is ServerState.BACKOFF:
        return ServerNotReady(f"{status.name} is restarting: {status.reason}", hint=f"{hint} {log}")
    return ServerNotReady(f"{status.name} is still starting.", hint=hint)

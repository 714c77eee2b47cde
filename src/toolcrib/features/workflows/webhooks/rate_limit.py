"""Limits how often each webhook accepts requests; each host counts for itself."""

from __future__ import annotations

import math
from collections.abc import Callable

MOST = 10_000
"""Webhooks that are counted; the ones used longest ago are forgotten."""


class RateLimit:
    """Each webhook may be used `rate` times a minute, at once or spread."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, hook: str, rate: int) -> int:
        """Count a request; seconds to wait if it is one too many, else 0."""
        now = self._monotonic()
        left, since = self._left.pop(hook, (float(rate), now))
        left = min(rate, left + (now - since) * rate / 60)
        allowed = left >= 1
        self._left[hook] = (left - 1 if allowed else left, now)
        while len(self._left) > MOST:
            del self._left[next(iter(self._left))]
        return 0 if allowed else max(1, math.ceil((1 - left) * 60 / rate))

"""When the next request to a rate-limited service (such as Discord) may be sent, learned from its responses;
which routes share a limit.

Services limit each route, a bucket that several routes share, and all requests together. Whatever a response
says is remembered, so that the next request waits instead of being rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolcrib.clock import Clock, SystemClock

MAX_ROUTES = 2000
_EVERY_ROUTE = "*"
_ID = re.compile(r"(?<=/)\d+(?=/|$)")
_OWN_LIMITS = re.compile(r"(?:channels|guilds|webhooks|courses)/$")
"""Resources whose ids have limits of their own; other ids do not matter."""


class RateLimits:
    """The limits of one account. Unknown routes are free."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._free_at: dict[str, float] = {}
        self._buckets: dict[str, str] = {}

    def delay(self, route: str) -> float:
        """Seconds until a request of this route may be sent; 0 if now."""
        free_at = max(self._free_at.get(key, 0.0) for key in (self._key(route), _EVERY_ROUTE))
        return max(0.0, free_at - self._clock.monotonic())

    def learn(self, route: str, headers: Mapping[str, str]) -> None:
        """Remember the limits that a response declares."""
        if len(self._free_at) + len(self._buckets) > MAX_ROUTES:
            self._forget_past()
        if bucket := headers.get("x-ratelimit-bucket"):
            self._buckets[route] = f"{bucket[:100]} {_resource(route)}"
        if headers.get("x-ratelimit-remaining") == "0":
            self.block(route, seconds(headers.get("x-ratelimit-reset-after")) or 0.0)

    def block(self, route: str, wait: float, *, every_route: bool = False) -> None:
        """No request of this route, or of any, for so many seconds."""
        key = _EVERY_ROUTE if every_route else self._key(route)
        self._free_at[key] = max(self._free_at.get(key, 0.0), self._clock.monotonic() + wait)

    def _key(self, route: str) -> str:
        return self._buckets.get(route, route)

    def _forget_past(self) -> None:
        now = self._clock.monotonic()
        self._free_at = {key: at for key, at in self._free_at.items() if at > now}
        self._buckets.clear()


def route_of(method: str, path: str) -> str:
    """The route that a request counts for: ids are replaced unless each has limits of its own."""

    def shorten(found: re.Match[str]) -> str:
        return found.group() if _OWN_LIMITS.search(path[: found.start()]) else "ID"

    return f"{method} {_ID.sub(shorten, path)}"


def seconds(text: object) -> float | None:
    """A number of seconds in a header or a body; None for anything else, such as a date."""
    try:
        value = float(str(text))
    except ValueError:
        return None
    return value if 0 <= value < 1e7 else None


def _resource(route: str) -> str:
    found = _ID.search(route)
    return found.group() if found else ""

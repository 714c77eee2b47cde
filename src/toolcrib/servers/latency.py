"""Notices that a server answers slowly: how many of its last answers took long.

What counts is the silence: a call that tells its progress is at work. A server whose calls were given more
time than usual is slow by nature, and nobody is told of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from toolcrib.schema.servers import ServerEntry
from toolcrib.servers.sessions.request import OnProgress

KEPT = 10
MANY = 3
LONG = 5.0
"""Seconds."""


class Stopwatch:
    """Of one call that tells its progress: how long nothing was heard of it."""

    def __init__(self, monotonic: Callable[[], float], on_progress: OnProgress) -> None:
        self._monotonic = monotonic
        self._heard = monotonic()
        self._tell = on_progress

    @property
    def seconds(self) -> float:
        """Since it began, or since it last told something."""
        return self._monotonic() - self._heard

    def told(self, progress: float, total: float | None, message: str | None) -> None:
        """Something was heard; it is passed on."""
        self._heard = self._monotonic()
        self._tell(progress, total, message)


class Pace:
    """The last answers of one connection."""

    def __init__(self, entry: ServerEntry) -> None:
        self._patient = entry.call_timeout > ServerEntry.call_timeout
        self._long: deque[bool] = deque(maxlen=KEPT)

    def took(self, seconds: float) -> bool:
        """An answer came after so long, or did not come in that time; says whether there is news in it."""
        news = seconds > LONG or True in self._long
        self._long.append(seconds > LONG)
        return news

    @property
    def complaint(self) -> str | None:
        """What is wrong with them; None is well."""
        slow = sum(self._long)
        if self._patient or len(self._long) < KEPT or slow < MANY:
            return None
        return f"{slow} of the last {KEPT} answers took over {LONG:g} s."

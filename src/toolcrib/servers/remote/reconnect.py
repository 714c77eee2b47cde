"""When to open a cut stream again: soon at first, later and later while nothing comes of it."""

from __future__ import annotations

from dataclasses import dataclass

SHORTEST_DELAY = 0.05


@dataclass(kw_only=True)
class Reconnect:
    """Counts fruitless attempts and gives the pause before the next one."""

    first: float = 1.0
    longest: float = 60.0
    fruitless: int = 0
    """Attempts since the stream last brought anything."""

    def fruitful(self) -> None:
        """The stream brought something: start over."""
        self.fruitless = 0

    def next_delay(self, asked: float | None = None) -> float:
        """Seconds to wait; never less than the server `asked` for (its `retry:`), doubled by each failure."""
        start = max(self.first if asked is None else asked, SHORTEST_DELAY)
        delay = start * float(2 ** min(self.fruitless, 16))
        self.fruitless += 1
        return min(delay, max(start, self.longest))

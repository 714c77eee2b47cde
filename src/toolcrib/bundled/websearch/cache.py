"""A cache in memory that is bounded in entries, size and age. How long searches and pages are kept is decided
in `search.py` and `reading.py`."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class TimedCache(Generic[V]):
    """The least recently used entries go first."""

    def __init__(
        self,
        seconds: float,
        entries: int,
        *,
        size: int = 0,
        size_of: Callable[[V], int] = lambda value: 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._entries = entries
        self._size = size
        self._size_of = size_of
        self._clock = clock
        self._held: OrderedDict[Hashable, tuple[float, V]] = OrderedDict()
        self._used = 0

    def get(self, key: Hashable) -> V | None:
        """The value, if it is there and not too old."""
        found = self._held.get(key)
        if found is None:
            return None
        if found[0] < self._clock():
            self._drop(key)
            return None
        self._held.move_to_end(key)
        return found[1]

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value, and forget others for it if necessary."""
        self._drop(key)
        self._held[key] = self._clock() + self._seconds, value
        self._used += self._size_of(value)
        while len(self._held) > self._entries or (self._used > self._size and len(self._held) > 1):
            self._drop(next(iter(self._held)))

    def _drop(self, key: Hashable) -> None:
        found = self._held.pop(key, None)
        if found is not None:
            self._used -= self._size_of(found[1])

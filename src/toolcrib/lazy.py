"""A part that is opened on first use, and that can be asked whether it is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Holds a value, or how to make it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.opened: T | None = None
        """The value if it was used before."""

    @property
    def value(self) -> T:
        if self.opened is None:
            self.opened = self._make()
        return self.opened

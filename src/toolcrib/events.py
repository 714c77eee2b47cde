"""Publish and subscribe inside one process: size of a subscriber's queue; a slow subscriber loses the oldest
events and never blocks anyone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

E = TypeVar("E")

DEFAULT_CAPACITY = 1000


class Subscription(Generic[E]):
    """One subscriber's queue; `dropped` counts lost events."""

    def __init__(self, capacity: int, without: type[E] | None = None) -> None:
        self.without = without
        """Events of this type are left out."""
        self.unheard: deque[E] = deque(maxlen=capacity)
        """Events not read yet."""
        self._arrived = asyncio.Event()
        self.dropped = 0

    def put(self, event: E) -> None:
        """Add an event; drops the oldest if full."""
        if len(self.unheard) == self.unheard.maxlen:
            self.dropped += 1
        self.unheard.append(event)
        self._arrived.set()

    async def next(self) -> E:
        while not self.unheard:
            self._arrived.clear()
            await self._arrived.wait()
        return self.unheard.popleft()

    async def __aiter__(self) -> AsyncIterator[E]:
        while True:
            yield await self.next()


class Bus(Generic[E]):
    """Passes each published event to every current subscription."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription[E]] = set()

    def publish(self, event: E) -> None:
        """Never waits."""
        for subscription in tuple(self._subscriptions):
            if subscription.without is None or not isinstance(event, subscription.without):
                subscription.put(event)

    @contextmanager
    def subscribe(
        self, capacity: int = DEFAULT_CAPACITY, *, without: type[E] | None = None
    ) -> Iterator[Subscription[E]]:
        """Receive all events while the block runs, except those of type `without`."""
        subscription: Subscription[E] = Subscription(capacity, without)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    def hears(self, kind: type[E]) -> bool:
        """Whether anyone receives events of this type; lets a hot path skip building them."""
        for subscription in self._subscriptions:  # noqa: SIM110 - every call asks; `any` takes twice as long
            if subscription.without is not kind:
                return True
        return False

    @property
    def behind(self) -> bool:
        """Whether any subscriber has unread events."""
        for subscription in self._subscriptions:  # noqa: SIM110 - as above
            if subscription.unheard:
                return True
        return False

"""Publish and subscribe inside one process; a slow listener loses the oldest and never blocks anybody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

E = TypeVar("E")

DEFAULT_CAPACITY = 1000


class Subscription(Generic[E]):
    """One listener's queue. `dropped` counts what it was too slow for."""

    def __init__(self, capacity: int, without: type[E] | None = None) -> None:
        self.without = without
        """What it does not want to hear of."""
        self.unheard: deque[E] = deque(maxlen=capacity)
        """What has happened since it last listened."""
        self._arrived = asyncio.Event()
        self.dropped = 0

    def put(self, event: E) -> None:
        """Add an event, letting the oldest go when full."""
        if len(self.unheard) == self.unheard.maxlen:
            self.dropped += 1
        self.unheard.append(event)
        self._arrived.set()

    async def next(self) -> E:
        """The next event, waiting for one if there is none."""
        while not self.unheard:
            self._arrived.clear()
            await self._arrived.wait()
        return self.unheard.popleft()

    async def __aiter__(self) -> AsyncIterator[E]:
        while True:
            yield await self.next()


class Bus(Generic[E]):
    """Hands each published event to every current subscription."""

    def __init__(self) -> None:
        self._subscriptions: set[Subscription[E]] = set()

    def publish(self, event: E) -> None:
        """Tell everyone; never waits."""
        for subscription in tuple(self._subscriptions):
            if subscription.without is None or not isinstance(event, subscription.without):
                subscription.put(event)

    @contextmanager
    def subscribe(
        self, capacity: int = DEFAULT_CAPACITY, *, without: type[E] | None = None
    ) -> Iterator[Subscription[E]]:
        """Listen from now on until the block is left, to everything but events of one kind."""
        subscription: Subscription[E] = Subscription(capacity, without)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    def hears(self, kind: type[E]) -> bool:
        """True when anyone wants events of this kind; lets a hot path skip building those nobody hears."""
        for subscription in self._subscriptions:  # noqa: SIM110 - every call asks; `any` takes twice as long
            if subscription.without is not kind:
                return True
        return False

    @property
    def behind(self) -> bool:
        """True while somebody has not heard yet of what happened."""
        for subscription in self._subscriptions:  # noqa: SIM110 - as above
            if subscription.unheard:
                return True
        return False

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

    def __init__(self, capacity: int) -> None:
        self._queue: deque[E] = deque(maxlen=capacity)
        self._arrived = asyncio.Event()
        self.dropped = 0

    def put(self, event: E) -> None:
        """Add an event, letting the oldest go when full."""
        if len(self._queue) == self._queue.maxlen:
            self.dropped += 1
        self._queue.append(event)
        self._arrived.set()

    async def next(self) -> E:
        """The next event, waiting for one if there is none."""
        while not self._queue:
            self._arrived.clear()
            await self._arrived.wait()
        return self._queue.popleft()

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
            subscription.put(event)

    @contextmanager
    def subscribe(self, capacity: int = DEFAULT_CAPACITY) -> Iterator[Subscription[E]]:
        """Listen from now on until the block is left."""
        subscription: Subscription[E] = Subscription(capacity)
        self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)

    @property
    def listened(self) -> bool:
        """True when anyone is subscribed; lets a hot path skip building events nobody hears."""
        return bool(self._subscriptions)

"""Passes events from synchronous callbacks to an asynchronous listener that may be slow: how many are queued
before the oldest are dropped."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.operations.operation import Emit

CAPACITY = 100
"""Events queued for a slow listener; if there are more, the oldest are dropped."""


@asynccontextmanager
async def relay(emit: Emit) -> AsyncIterator[Callable[[Any], None]]:
    """A callback whose events are emitted in order, all of them before the block ends without an error."""
    queue = _Queue(emit)
    sender = asyncio.create_task(queue.run(), name="relay")
    try:
        yield queue.put
    except BaseException:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await sender
        raise
    queue.finish()
    await sender


class _Queue:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting: deque[Any] = deque(maxlen=CAPACITY)
        self._arrived = asyncio.Event()
        self._finished = False

    def put(self, event: Any) -> None:
        self._waiting.append(event)
        self._arrived.set()

    def finish(self) -> None:
        self._finished = True
        self._arrived.set()

    async def run(self) -> None:
        while True:
            while self._waiting:
                await self._emit(self._waiting.popleft())
            if self._finished:
                return
            self._arrived.clear()
            await self._arrived.wait()

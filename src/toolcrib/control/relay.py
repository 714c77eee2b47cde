"""Carries events from plain callbacks, which must not wait, to a listener that may be slow."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.control.needs import Emit

CAPACITY = 100
"""Events waiting for a slow listener; then the oldest go."""


@asynccontextmanager
async def relay(emit: Emit) -> AsyncIterator[Callable[[Any], None]]:
    """A callback whose events are emitted in order; all of them have been when the block is left well."""
    belt = _Belt(emit)
    carrier = asyncio.create_task(belt.run(), name="relay")
    try:
        yield belt.put
    except BaseException:
        carrier.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await carrier
        raise
    belt.finish()
    await carrier


class _Belt:
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

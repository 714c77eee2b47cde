"""The time of an event loop, which a test can let pass: a timeout ends when the test says so."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")


async def settle() -> None:
    """Let the loop turn until all has happened that needs neither time nor another process."""
    for _ in range(20):
        await asyncio.sleep(0)


class LoopClock:
    """The time of asyncio's own loop, or of a `TurnableUvloop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._passed = 0.0
        if not isinstance(loop, TurnableUvloop):
            real_time = loop.time
            loop.time = lambda: real_time() + self._passed  # type: ignore[method-assign]

    async def passes(self, seconds: float) -> None:
        """So much later: whatever was due by then has happened."""
        self._passed += seconds
        if isinstance(self._loop, TurnableUvloop):
            self._loop.turn(seconds)
        await settle()

    async def outlasts(self, work: Coroutine[Any, Any, T], seconds: float, *, begun: Awaitable[object]) -> T:
        """The result of work if so much time passes once it has begun."""
        task = asyncio.ensure_future(work)
        try:
            await begun
            await self.passes(seconds)
            return await task
        finally:
            task.cancel()


class TurnableUvloop(uvloop.Loop):
    """Knows its timers, which uvloop keeps to itself, so that those that are due can be called early."""

    def __init__(self) -> None:
        super().__init__()
        self._passed = 0.0
        self._timers: list[tuple[float, asyncio.TimerHandle, Callable[[], None]]] = []

    def time(self) -> float:
        return super().time() + self._passed

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        context = context or contextvars.copy_context()
        handle = super().call_later(delay, callback, *args, context=context)
        self._timers.append((self.time() + delay, handle, lambda: context.run(callback, *args)))
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        return self.call_later(when - self.time(), callback, *args, context=context)

    def turn(self, seconds: float) -> None:
        before = self.time()
        self._passed += seconds
        waiting = [timer for timer in self._timers if timer[0] > before]
        self._timers = [timer for timer in waiting if timer[0] > self.time()]
        for when, handle, call in sorted(waiting, key=lambda timer: timer[0]):
            if when <= self.time() and not handle.cancelled():
                handle.cancel()
                call()

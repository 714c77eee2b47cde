"""What was taken away and can still come back: after a while it is cleared away for good, unless taken back.

When the host ends before that, nothing is cleared away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from toolcrib.clock import Clock
from toolcrib.errors import NotFound
from toolcrib.tasks import cancel_and_wait

Clear = Callable[[], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class RemovedServer:
    """An entry as it stood, and what stood before it in the file."""

    name: str
    raw: Any
    after: str | None


class Removals:
    """The servers that can be brought back, by name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[str, tuple[RemovedServer, asyncio.Task[None]]] = {}

    def keep(self, removed: RemovedServer, seconds: float, clear: Clear) -> None:
        """Remember a server for so long, then clear away what is left of it."""
        self._drop(removed.name)
        task = asyncio.create_task(
            self._clear_later(removed.name, seconds, clear), name=f"clear {removed.name}"
        )
        self._waiting[removed.name] = (removed, task)

    def take_back(self, name: str) -> RemovedServer:
        """The server, which is then no longer cleared away; raises `NotFound`."""
        if name not in self._waiting:
            raise NotFound(f"{name} can no longer be brought back.", hint="Add it again.")
        removed, task = self._waiting.pop(name)
        task.cancel()
        return removed

    async def close(self) -> None:
        """Clear nothing away any more."""
        tasks = [task for _, task in self._waiting.values()]
        self._waiting.clear()
        await cancel_and_wait(*tasks)

    def _drop(self, name: str) -> None:
        if name in self._waiting:
            self._waiting.pop(name)[1].cancel()

    async def _clear_later(self, name: str, seconds: float, clear: Clear) -> None:
        await self._clock.sleep(seconds)
        self._waiting.pop(name, None)
        await clear()

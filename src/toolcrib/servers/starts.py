"""How many servers start at once: enough to keep the machine busy, few enough that the first is soon usable.

A slot is held while a server is likely to be using the processor. One that is still not ready after that
gives its slot up and goes on starting, so that servers that hang cannot keep the others from starting.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 1.5


class StartSlots:
    """A number of slots that slow starters do not hold for long."""

    def __init__(self, count: int, patience: float = PATIENCE) -> None:
        self._free = asyncio.Semaphore(count)
        self._patience = patience

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Hold a slot while the block runs, but not longer than the patience lasts."""
        await self._free.acquire()
        timer = asyncio.get_running_loop().call_later(self._patience, self._free.release)
        try:
            yield
        finally:
            if timer.when() > asyncio.get_running_loop().time() and not timer.cancelled():
                timer.cancel()
                self._free.release()

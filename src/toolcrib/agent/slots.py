"""How many calls of a turn run at once; one that waits for an approval lends its slot to the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Slots:
    """So many slots, by the id of the call that holds each."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._holding: set[str] = set()
        self._waiting: dict[str, asyncio.Future[None]] = {}

    @property
    def full(self) -> bool:
        """Whether the next one has to wait."""
        return len(self._holding) >= self._count

    @asynccontextmanager
    async def held(self, call: str) -> AsyncIterator[None]:
        """Hold a slot during the block, once there is one."""
        try:
            if self.full:
                self._waiting[call] = asyncio.get_running_loop().create_future()
                await self._waiting[call]
            self._holding.add(call)
            yield
        finally:
            self._waiting.pop(call, None)
            self.lend(call)

    def lend(self, call: str) -> None:
        """Give the slot to the call that waits longest."""
        self._holding.discard(call)
        while self._waiting and not self.full:
            following = next(iter(self._waiting))
            turn = self._waiting.pop(following)
            if not turn.cancelled():
                self._holding.add(following)
                turn.set_result(None)

    def take_back(self, call: str) -> None:
        """Hold a slot again at once, even when all are taken: the user has just allowed this call."""
        self._holding.add(call)

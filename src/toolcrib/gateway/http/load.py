"""What an address has taken on, and how much more it takes: refused at the border rather than endured."""

from __future__ import annotations

import asyncio
import resource

from toolcrib.config.settings import GatewaySettings


class Load:
    """Counts clients and requests of all views of one address; `limits` may change while it runs."""

    def __init__(self, limits: GatewaySettings) -> None:
        self.limits = limits
        self.clients = 0
        """Sessions of the legacy era, and streams that modern clients listen on."""
        self.calls = 0
        self.ending = False
        """Nothing new is taken on any more."""
        self._quiet = asyncio.Event()
        self._quiet.set()

    @property
    def has_room_for_client(self) -> bool:
        """True while one more may come."""
        return self.clients < self.limits.max_sessions

    @property
    def has_room_for_call(self) -> bool:
        """True while one more request may be under way."""
        return self.calls < self.limits.max_calls

    @property
    def most_connections(self) -> int:
        """Never more than half of the files that this process may have open: servers need theirs."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = self.limits.max_connections
        return allowed if soft == resource.RLIM_INFINITY else min(allowed, max(16, soft // 2))

    def begin_call(self) -> None:
        """One more is under way."""
        self.calls += 1
        self._quiet.clear()

    def end_call(self) -> None:
        """One less."""
        self.calls -= 1
        if not self.calls:
            self._quiet.set()

    async def quiet(self) -> None:
        """Wait until nothing is under way."""
        await self._quiet.wait()

"""What an address has taken on, and how much more it takes: refused at the border rather than endured."""

from __future__ import annotations

import asyncio
import resource
from typing import Protocol

from toolcrib.config.settings import GatewaySettings


class Evictable(Protocol):
    """The sessions of one view."""

    def __len__(self) -> int:
        """How many there are."""

    def evict(self) -> bool:
        """Close the one that has been idle longest; False when every client is connected."""


class Load:
    """Counts clients and requests of all views of one address; its limits may change while it runs."""

    def __init__(self, limits: GatewaySettings) -> None:
        self.adopt(limits)
        self.clients = 0
        """Sessions of the legacy era, and streams that modern clients listen on."""
        self.calls = 0
        self.ending = False
        """Nothing new is taken on any more."""
        self.awaited = False
        """Somebody waits until nothing is under way."""
        self._quiet = asyncio.Event()
        self._views: list[Evictable] = []

    def adopt(self, limits: GatewaySettings) -> None:
        """These hold from now on; those that every request meets are kept at hand."""
        self.limits = limits
        self.max_body_bytes = limits.max_body_bytes
        self.max_calls = limits.max_calls
        self.max_calls_per_session = limits.max_calls_per_session
        self.session_idle = limits.session_idle

    def join(self, view: Evictable) -> None:
        """Count the sessions of this view too."""
        self._views.append(view)

    def leave(self, view: Evictable) -> None:
        """The view ended."""
        if view in self._views:
            self._views.remove(view)

    def make_room_for_client(self) -> bool:
        """True when one more may come; at the limit, an idle session of the largest view is closed for it.

        So a flood of sessions in one view cannot lock the clients of any view out, least of all of another.
        """
        if self.clients < self.limits.max_sessions:
            return True
        return any(view.evict() for view in sorted(self._views, key=len, reverse=True))

    @property
    def most_connections(self) -> int:
        """Never more than half of the files that this process may have open: servers need theirs."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = self.limits.max_connections
        return allowed if soft == resource.RLIM_INFINITY else min(allowed, max(16, soft // 2))

    def look(self) -> None:
        """Let whoever waits know when nothing is under way."""
        if not self.calls:
            self._quiet.set()

    async def quiet(self) -> None:
        """Wait until nothing is under way."""
        self.awaited = True
        while self.calls:
            self._quiet.clear()
            await self._quiet.wait()

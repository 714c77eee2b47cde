"""The load of one address and its limits: what exceeds them is refused."""

from __future__ import annotations

import asyncio
import resource
from typing import Protocol

from toolcrib.config.settings import GatewaySettings


class Evictable(Protocol):
    """The clients of one endpoint."""

    def __len__(self) -> int:
        """The number of its sessions and streams."""

    def evict(self) -> bool:
        """Close the one that has been idle longest; False when every client is connected."""


class Load:
    """Counts clients and requests of all endpoints of one address; the limits may change while it runs."""

    def __init__(self, limits: GatewaySettings) -> None:
        self.update(limits)
        self.clients = 0
        """Sessions of the legacy era, and streams of modern clients."""
        self.calls = 0
        self.ending = False
        """Nothing new is accepted."""
        self.draining = False
        """Shutdown waits until no request is running."""
        self._idle = asyncio.Event()
        self._endpoints: list[Evictable] = []

    def update(self, limits: GatewaySettings) -> None:
        """Apply these limits from now on."""
        self.limits = limits
        self.max_body_bytes = limits.max_body_bytes
        self.max_calls = limits.max_calls
        self.max_calls_per_session = limits.max_calls_per_session
        self.session_idle = limits.session_idle

    def join(self, endpoint: Evictable) -> None:
        """Add the sessions of an endpoint."""
        self._endpoints.append(endpoint)

    def leave(self, endpoint: Evictable) -> None:
        """Remove the sessions of an endpoint that ended."""
        if endpoint in self._endpoints:
            self._endpoints.remove(endpoint)

    def make_room_for_client(self, endpoint: Evictable) -> bool:
        """True if another client of this endpoint is allowed; at a limit, an idle session is closed for it.

        One endpoint has only its share, so that a flood there cannot lock out the clients of another; of
        several endpoints the largest gives way first.
        """
        if len(endpoint) >= self._share:
            return endpoint.evict()
        if self.clients < self.limits.max_sessions:
            return True
        return any(endpoint.evict() for endpoint in sorted(self._endpoints, key=len, reverse=True))

    @property
    def _share(self) -> int:
        """How many clients one endpoint may have: all, or three quarters if there are other endpoints."""
        most = self.limits.max_sessions
        return most if len(self._endpoints) == 1 else max(1, most * 3 // 4)

    @property
    def max_connections(self) -> int:
        """At most half of the file descriptors of this process: servers need the others."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = self.limits.max_connections
        return allowed if soft == resource.RLIM_INFINITY else min(allowed, max(16, soft // 2))

    def check_idle(self) -> None:
        """A request has ended while shutdown waits."""
        if not self.calls:
            self._idle.set()

    async def until_idle(self) -> None:
        """Wait until no request is running."""
        self.draining = True
        while self.calls:
            self._idle.clear()
            await self._idle.wait()

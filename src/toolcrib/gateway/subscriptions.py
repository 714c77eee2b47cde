"""Subscriptions to resources: one at the server for all clients of a resource. Maximum number, timeouts, and
the pause between attempts while a server is down.

The server is subscribed to in its own era, and again after a restart. The last client to leave ends the
subscription.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.wire import Channel
from toolcrib.serverkit.protocol import notification
from toolcrib.servers.pool import Pool
from toolcrib.servers.sessions.session import Session

PATIENCE = 5.0
"""Seconds a server has to answer a subscription."""
UNSUBSCRIBE_PATIENCE = 2.0
"""Seconds a server has to answer the end of one."""
PAUSE = 5.0
"""Seconds between two attempts while a server is down."""
MAX_SUBSCRIPTIONS = 10_000
UPDATED = "notifications/resources/updated"


class _Subscription:
    """One resource at one server, and the clients that want to know of its changes."""

    def __init__(self, servers: Pool, server: str, uri: str) -> None:
        self.server = server
        self.uri = uri
        self.channels: set[Channel] = set()
        self.established: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.established.add_done_callback(_retrieve)
        self._servers = servers
        self.task = asyncio.create_task(self._keep(), name=f"subscription to {uri}")

    def covers(self, uri: Any) -> bool:
        """True for the resource itself and those below it."""
        return isinstance(uri, str) and (uri == self.uri or uri.startswith(self.uri.rstrip("/") + "/"))

    async def _keep(self) -> None:
        while True:
            try:
                session = await self._servers.session(self.server)
                await self._subscribe(session)
            except ToolcribError as error:
                if not self.established.done():
                    self.established.set_exception(error)
                    return
                await asyncio.sleep(PAUSE)

    async def _subscribe(self, session: Session) -> None:
        """Subscribe, and wait until the connection is lost."""
        if session.agreement.era == "modern":
            wanted = {"notifications": {"resourceSubscriptions": [self.uri]}}
            await session.request("subscriptions/listen", wanted, timeout=None)
            await asyncio.sleep(PAUSE)  # the server ended the stream; it may be asked again
            return
        await session.request("resources/subscribe", {"uri": self.uri}, timeout=PATIENCE)
        self.confirm()
        try:
            await asyncio.shield(session.lost)
        except asyncio.CancelledError:
            with contextlib.suppress(ToolcribError):
                await session.request(
                    "resources/unsubscribe", {"uri": self.uri}, timeout=UNSUBSCRIBE_PATIENCE
                )
            raise

    def confirm(self) -> None:
        """The server has accepted the subscription."""
        if not self.established.done():
            self.established.set_result(None)


def _retrieve(established: asyncio.Future[None]) -> None:
    """The client may have left: then an error is not needed."""
    if not established.cancelled():
        established.exception()


class ResourceSubscriptions:
    """All subscriptions, by server and URI."""

    def __init__(self, servers: Pool) -> None:
        self._servers = servers
        self._subscriptions: dict[tuple[str, str], _Subscription] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def join(self, channel: Channel, server: str, uri: str) -> bool:
        """Notify this client of changes; False when there are too many. Raises the server's refusal."""
        subscription = self._subscriptions.get((server, uri))
        if subscription is None:
            if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
                return False
            subscription = self._subscriptions[server, uri] = _Subscription(self._servers, server, uri)
        subscription.channels.add(channel)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(subscription.established), PATIENCE)
        except BaseException:
            self.leave(channel, uri)
            raise
        return True

    def leave(self, channel: Channel, uri: str | None = None) -> None:
        """Stop notifying this client, of one resource or of all."""
        for key, subscription in list(self._subscriptions.items()):
            if uri is not None and subscription.uri != uri:
                continue
            subscription.channels.discard(channel)
            if not subscription.channels:
                del self._subscriptions[key]
                self._end(subscription)

    def forward(self, server: str, params: dict[str, Any]) -> None:
        """Notify clients of a changed resource."""
        cleaned = {key: value for key, value in params.items() if key != "_meta"}
        channels: set[Channel] = set()
        for subscription in self._subscriptions.values():
            if subscription.server == server and subscription.covers(params.get("uri")):
                channels |= subscription.channels
        for channel in channels:
            channel.push(notification(UPDATED, cleaned))

    def confirm(self, server: str, params: dict[str, Any]) -> None:
        """A server of the modern era has accepted these."""
        agreed = params.get("notifications")
        uris = agreed.get("resourceSubscriptions") if isinstance(agreed, dict) else None
        for uri in uris if isinstance(uris, list) else ():
            subscription = self._subscriptions.get((server, uri)) if isinstance(uri, str) else None
            if subscription is not None:
                subscription.confirm()

    async def close(self) -> None:
        """End all subscriptions."""
        subscriptions, self._subscriptions = self._subscriptions, {}
        for subscription in subscriptions.values():
            self._end(subscription)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _end(self, subscription: _Subscription) -> None:
        subscription.confirm()
        subscription.task.cancel()
        self._ending.add(subscription.task)
        subscription.task.add_done_callback(self._ending.discard)

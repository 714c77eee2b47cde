"""Keeps watch over resources that clients subscribed to: once at the server, however many clients there are.

The server is subscribed to in its own era, and again after a restart. The last client to leave ends it.
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
FAREWELL = 2.0
"""Seconds a server has to take note that nobody listens any more."""
PAUSE = 5.0
"""Seconds between two tries with a server that is away."""
MAX_WATCHES = 10_000
UPDATED = "notifications/resources/updated"


class _Watch:
    """One resource at one server, and who wants to hear of it."""

    def __init__(self, servers: Pool, server: str, uri: str) -> None:
        self.server = server
        self.uri = uri
        self.channels: set[Channel] = set()
        self.established: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.established.add_done_callback(_hear)
        self._servers = servers
        self.task = asyncio.create_task(self._keep(), name=f"watch over {uri}")

    def covers(self, uri: Any) -> bool:
        """True for the resource itself and what is below it."""
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
        """Subscribed until the connection is gone."""
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
                await session.request("resources/unsubscribe", {"uri": self.uri}, timeout=FAREWELL)
            raise

    def confirm(self) -> None:
        """The server will tell."""
        if not self.established.done():
            self.established.set_result(None)


def _hear(established: asyncio.Future[None]) -> None:
    """Whoever waited may have left: then a refusal is no news."""
    if not established.cancelled():
        established.exception()


class Watches:
    """All of them, by server and URI."""

    def __init__(self, servers: Pool) -> None:
        self._servers = servers
        self._watches: dict[tuple[str, str], _Watch] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def join(self, channel: Channel, server: str, uri: str) -> bool:
        """Tell this client of changes from now on; False when there are too many. Raises a server's no."""
        watch = self._watches.get((server, uri))
        if watch is None:
            if len(self._watches) >= MAX_WATCHES:
                return False
            watch = self._watches[server, uri] = _Watch(self._servers, server, uri)
        watch.channels.add(channel)
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(watch.established), PATIENCE)
        except BaseException:
            self.leave(channel, uri)
            raise
        return True

    def leave(self, channel: Channel, uri: str | None = None) -> None:
        """This client is not to be told any more, of one resource or of any."""
        for key, watch in list(self._watches.items()):
            if uri is not None and watch.uri != uri:
                continue
            watch.channels.discard(channel)
            if not watch.channels:
                del self._watches[key]
                self._end(watch)

    def tell(self, server: str, params: dict[str, Any]) -> None:
        """A server says that a resource changed."""
        said = {key: value for key, value in params.items() if key != "_meta"}
        watches = [w for w in self._watches.values() if w.server == server and w.covers(params.get("uri"))]
        for channel in {channel for watch in watches for channel in watch.channels}:
            channel.push(notification(UPDATED, said))

    def confirm(self, server: str, params: dict[str, Any]) -> None:
        """A server of the modern era says what it will tell."""
        agreed = params.get("notifications")
        uris = agreed.get("resourceSubscriptions") if isinstance(agreed, dict) else None
        for uri in uris if isinstance(uris, list) else ():
            watch = self._watches.get((server, uri)) if isinstance(uri, str) else None
            if watch is not None:
                watch.confirm()

    async def close(self) -> None:
        """End every watch."""
        watches, self._watches = self._watches, {}
        for watch in watches.values():
            self._end(watch)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _end(self, watch: _Watch) -> None:
        watch.confirm()
        watch.task.cancel()
        self._ending.add(watch.task)
        watch.task.add_done_callback(self._ending.discard)

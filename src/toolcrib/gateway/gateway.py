"""One gateway: a host seen through a profile, and the clients that are connected to it.

It holds no connection itself: fronts come and go, and are told of changes while they listen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolcrib import __version__
from toolcrib.gateway.bridge import Parking
from toolcrib.gateway.catalog import Catalog, Definition, Kind
from toolcrib.gateway.logs import Logs
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.search import SearchMode
from toolcrib.gateway.watches import UPDATED, Watches
from toolcrib.gateway.wire import Channel
from toolcrib.host import Host
from toolcrib.schema.events import Event, ServerChanged, ServerNoticed, ServerRemoved, ToolsChanged
from toolcrib.schema.tools import Tool
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request, notification

logger = logging.getLogger(__name__)

INFO = {"name": "toolcrib", "version": __version__}
LIST_PATIENCE = 3.0
CHANGE_PAUSE = 0.1
"""Seconds in which changes of a list are gathered into one notice."""


class Gateway:
    """The host through one profile."""

    def __init__(self, host: Host, profile: Profile | None = None) -> None:
        self.host = host
        self.profile = profile or Profile()
        self.search = SearchMode(self.tools) if self.profile.search else None
        self.parking = Parking()
        self.catalog = Catalog(host.servers, self.profile.shows_server, self._announce)
        self.logs = Logs()
        self.watches = Watches(host.servers)
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._channels: set[Channel] = set()
        self._listable_at = asyncio.get_running_loop().time() + LIST_PATIENCE

    def tools(self) -> list[Tool]:
        """The tools that clients of this gateway see now."""
        return self.profile.view(self.host.registry.snapshot.tools.values())

    def find(self, name: str) -> Tool | None:
        """The tool of this public name, if clients of this gateway see it."""
        tool = self.host.registry.snapshot.get(name)
        return tool if tool is not None and self.profile.shows(tool) else None

    def definitions(self) -> list[dict[str, Any]]:
        """What a client is shown: in search mode the tools to search with, else every tool's definition, byte
        for byte as its server gave it but for the name."""
        if self.search is not None:
            return self.search.definitions()
        return [{**tool.definition.raw, "name": tool.name} for tool in self.tools()]

    async def page(self, kind: Kind, request: Request) -> dict[str, Any]:
        """Everything of a kind that the servers offer, as the answer to a request."""
        if request.params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
        await self.settled()
        result: dict[str, Any] = {kind.key: await self.catalog.page(kind)}
        return {**result, "ttlMs": 0, "cacheScope": "private"} if request.modern else result

    async def find_listed(self, kind: Kind, identity: str) -> tuple[str, Definition] | None:
        """Whose prompt or resource this is; one that is not known may be of a server that is starting."""
        found = await self.catalog.find(kind, identity)
        if found is None:
            await self.settled()
            found = await self.catalog.find(kind, identity)
        return found

    async def watchable(self, uri: str) -> str | None:
        """The server that a resource belongs to, if it tells of changes."""
        await self.settled()
        owner = await self.catalog.owner(uri)
        for session in self.catalog.sessions("resources"):
            offered = session.agreement.capabilities["resources"]
            if session.server == owner and isinstance(offered, dict) and offered.get("subscribe") is True:
                return owner
        return None

    async def settled(self) -> None:
        """Wait for servers that are still starting, but only in the gateway's first moments.

        Many clients list once and never again; one that hangs must not keep the others from being listed.
        """
        left = self._listable_at - asyncio.get_running_loop().time()
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self.host.servers.settle()
        self._listable_at = 0.0

    def join(self, channel: Channel) -> None:
        """A client wants to be told of changes from now on."""
        self._channels.add(channel)

    def leave(self, channel: Channel) -> None:
        """It does not any more."""
        self._channels.discard(channel)
        self.watches.leave(channel)

    def tell_all(self, method: str) -> None:
        """Tell every client that listens."""
        for channel in tuple(self._channels):
            channel.push(notification(method, {}))

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Pass changes of the registry on to the clients while the block runs."""
        task = asyncio.create_task(self._follow(), name="gateway changes")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            for due in self._due.values():
                due.cancel()
            await self.parking.close()
            await asyncio.gather(self.catalog.close(), self.logs.close(), self.watches.close())

    async def _follow(self) -> None:
        with self.host.events.subscribe() as events:
            async for event in events:
                self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, ToolsChanged):
            self._announce("tools")
        elif isinstance(event, ServerChanged):
            self._look_at(event.status.name)
        elif isinstance(event, ServerRemoved):
            self._look_at(event.name)
        elif isinstance(event, ServerNoticed) and self.profile.shows_server(event.server):
            self._take_notice(event.server, event.method, dict(event.params))

    def _look_at(self, server: str) -> None:
        session = self.catalog.look_at(server)
        if session is not None:
            self.logs.opened(session)

    def _take_notice(self, server: str, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/message":
            self.logs.tell(server, params)
        elif method == UPDATED:
            self.watches.tell(server, params)
        elif method == "notifications/subscriptions/acknowledged":
            self.watches.confirm(server, params)
        elif method in ("notifications/prompts/list_changed", "notifications/resources/list_changed"):
            capability = method.split("/")[1]
            self.catalog.forget(server, capability)
            self._announce(capability)

    def _announce(self, kind: str) -> None:
        """Tell the clients soon that a list changed; once, when more of it changes at the same time."""
        if self._channels and kind not in self._due:
            self._due[kind] = asyncio.get_running_loop().call_later(CHANGE_PAUSE, self._tell_changed, kind)

    def _tell_changed(self, kind: str) -> None:
        del self._due[kind]
        self.tell_all(f"notifications/{kind}/list_changed")

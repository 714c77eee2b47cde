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
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.search import SearchMode
from toolcrib.gateway.wire import Channel
from toolcrib.host import Host
from toolcrib.schema.events import ToolsChanged
from toolcrib.schema.tools import Tool
from toolcrib.serverkit.protocol import notification

logger = logging.getLogger(__name__)

INFO = {"name": "toolcrib", "version": __version__}
LIST_PATIENCE = 3.0
CHANGE_PAUSE = 0.1
"""Seconds in which changes of the tool list are gathered into one notice."""


class Gateway:
    """The host through one profile."""

    def __init__(self, host: Host, profile: Profile | None = None) -> None:
        self.host = host
        self.profile = profile or Profile()
        self.search = SearchMode(self.tools) if self.profile.search else None
        self.parking = Parking()
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
            await self.parking.close()

    async def _follow(self) -> None:
        with self.host.events.subscribe() as events:
            async for event in events:
                if isinstance(event, ToolsChanged) and self._channels:
                    await asyncio.sleep(CHANGE_PAUSE)
                    self.tell_all("notifications/tools/list_changed")

"""One gateway: a host seen through a profile, and the clients that are connected to it.

It holds no connection itself: fronts come and go, and are told of changes while they listen.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolcrib import __version__
from toolcrib.errors import ServerNotReady, ToolcribError, UnknownTool
from toolcrib.gateway.bridge import Parking
from toolcrib.gateway.catalog import Catalog
from toolcrib.gateway.kinds import Definition, Kind
from toolcrib.gateway.list_cache import KeptLists
from toolcrib.gateway.logs import Logs
from toolcrib.gateway.names import PlainNames
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.tool_list import Listing
from toolcrib.gateway.watches import UPDATED, Watches
from toolcrib.gateway.wire import Channel
from toolcrib.host import Host
from toolcrib.schema.events import Event, ServerChanged, ServerNoticed, ServerRemoved, ToolsChanged
from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.tools import Tool
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request, notification
from toolcrib.servers.supervisor import HOPELESS
from toolcrib.tools.naming import BORDER, PREFIX
from toolcrib.tools.snapshot import Snapshot, explain_held

if TYPE_CHECKING:
    from toolcrib.gateway.search import SearchMode

logger = logging.getLogger(__name__)

INFO = {"name": "toolcrib", "version": __version__}
LIST_PATIENCE = 3.0
"""Seconds for which the first list of prompts or resources waits for servers that are starting."""
TOOLS_PATIENCE = 10.0
"""Seconds for which the first list of tools waits for servers that were never listed before."""
CHANGE_PAUSE = 0.1
"""Seconds in which changes of a list are gathered into one notice."""


class Gateway:
    """The host through one profile."""

    def __init__(self, host: Host, profile: Profile | None = None) -> None:
        self.host = host
        self.profile = profile or Profile()
        self.search = self._search_mode()
        self.parking = Parking()
        kept = KeptLists(host.paths.state / "lists")
        self.catalog = Catalog(host.servers, lambda: self.profile, self._announce, kept)
        self.listing = Listing()
        self.logs = Logs(host.events)
        self.watches = Watches(host.servers)
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._channels: set[Channel] = set()
        self._waits: dict[str, float] = {}
        """Until when the first lists wait for servers that are starting."""
        self._named: tuple[Snapshot, PlainNames] | None = None
        self._relisting: set[str] = set()
        """Servers that said that their tools changed, and are being asked for them."""

    def change(self, profile: Profile) -> None:
        """Show another view from now on; clients that listen are told that the lists changed."""
        if profile == self.profile:
            return
        self.profile = profile
        self.search = self._search_mode()
        self._named = None
        for kind in ("tools", "prompts", "resources"):
            self._announce(kind)

    def _search_mode(self) -> SearchMode | None:
        profile = self.profile
        if not profile.search:
            return None
        from toolcrib.gateway.search import SearchMode

        return SearchMode(
            self.tools,
            limit=profile.k,
            always_on=profile.always_on,
            meaning=self.host.meaning,
            held=self._held,
        )

    def tools(self) -> list[Tool]:
        """The tools that clients of this gateway see now."""
        tools = self.profile.view(self.host.registry.snapshot.tools.values())
        return [tool for tool in tools if tool.origin == "mcp" or self._lends(tool)]

    def find(self, name: str) -> Tool | None:
        """The tool that clients of this gateway call so, or of this public name, if they see it."""
        names = self._names() if self.profile.plain_names else None
        if names is not None:
            name = names.public(name)
        snapshot = self.host.registry.snapshot
        tool = snapshot.tools.get(name) or snapshot.get(name)
        if tool is None or not self.profile.shows(tool):
            return None
        return tool if tool.origin == "mcp" or self._lends(tool) else None

    def _lends(self, tool: Tool) -> bool:
        """False for the terminal of whoever works at the host, unless the settings lend it out."""
        return self.host.settings.terminal.enabled or not self.host.workspace_tools.owns(tool)

    def missing(self, name: str) -> ToolcribError:
        """Why a client finds no tool of this name: held, its server offers none yet, or there is no such."""
        held = self._held(name)
        if held is not None:
            return held
        for status in self.host.servers.statuses():
            expected = name.removeprefix(PREFIX).startswith(status.name + BORDER)
            if expected and not status.tools and self.profile.shows_server(status.name):
                why = f": {status.reason}" if status.reason else ""
                return ServerNotReady(f"{status.name} is {status.state}{why}.", hint=_what_to_do(status))
        return UnknownTool(f"Unknown tool: {name[:200]}")

    def _held(self, name: str) -> ToolcribError | None:
        """Why a tool that the client would see otherwise is held; None when it is not."""
        snapshot = self.host.registry.snapshot
        tool = snapshot.get(name)
        if tool is None and self.profile.plain_names:
            tool = next((one for one in snapshot.tools.values() if one.definition.name == name), None)
        if tool is None or not tool.held or not self.profile.shows(replace(tool, enabled=True)):
            return None
        return explain_held(tool)

    def definitions(self) -> list[dict[str, Any]]:
        """What a client is shown: in search mode the tools to search with, else every tool's definition, byte
        for byte as its server gave it but for the name."""
        if self.search is not None:
            return self.search.definitions()
        names = self._names()
        if names is None:
            return [{**tool.definition.raw, "name": tool.name} for tool in self.tools()]
        return [{**tool.definition.raw, "name": names.shown(tool.name)} for tool in self.tools()]

    def _names(self) -> PlainNames | None:
        """The plain names of the tools, while there are any; in search mode tools have public names."""
        if not self.profile.plain_names or self.search is not None:
            return None
        snapshot = self.host.registry.snapshot
        if self._named is None or self._named[0] is not snapshot:
            owned = {tool.name: tool.definition.name for tool in self.tools()}
            self._named = (snapshot, PlainNames(owned))
        return self._named[1]

    async def page(self, kind: Kind, request: Request) -> dict[str, Any]:
        """Everything of a kind that the servers offer, as the answer to a request."""
        if request.params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
        await self.settled()
        result: dict[str, Any] = {kind.key: await self.catalog.page(kind)}
        return {**result, **self.hints(kind)} if request.modern else result

    def hints(self, kind: Kind) -> dict[str, Any]:
        """How long a client may keep a list. Which servers somebody has is nobody else's business, whatever
        each of them says of its own list."""
        return {"ttlMs": int(1000 * self.catalog.fresh_for(kind)), "cacheScope": "private"}

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
        if owner is None:
            return None
        try:
            offered = (await self.catalog.session(owner)).agreement.capabilities.get("resources")
        except ToolcribError:
            return None
        return owner if isinstance(offered, dict) and offered.get("subscribe") is True else None

    async def find_soon(self, name: str) -> Tool | None:
        """The tool of this name, once its server has started. Only that server is waited for."""
        if self.profile.plain_names:
            await self.tools_known()
        elif any(self.profile.shows_server(one) for one in self.host.servers.starting()):
            with contextlib.suppress(ToolcribError):
                await self.host.caller.arrive(name)
        return self.find(name)

    async def tools_known(self) -> None:
        """Wait at the first list for servers that are starting and whose tools are not known from before.

        Many clients list once and never again.
        """
        await self._first_wait("tools", self.host.servers.until_listed, TOOLS_PATIENCE)

    async def settled(self) -> None:
        """Wait at the first list for servers that are starting; one that hangs holds nobody up for long."""
        await self._first_wait("all", self.host.servers.settle, LIST_PATIENCE)

    async def _first_wait(
        self, what: str, settle: Callable[[], Coroutine[Any, Any, None]], patience: float
    ) -> None:
        """Wait until the servers are settled; all lists together no longer than from the first one on."""
        now = asyncio.get_running_loop().time()
        left = self._waits.setdefault(what, now + patience) - now
        if left <= 0:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await settle()
        self._waits[what] = now

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
            await self.close()

    async def _follow(self) -> None:
        with self.host.events.subscribe() as events:
            async for event in events:
                self.take(event)

    async def close(self) -> None:
        """Let go of what was begun for clients."""
        for due in self._due.values():
            due.cancel()
        self._due.clear()
        await self.parking.close()
        await asyncio.gather(self.catalog.close(), self.logs.close(), self.watches.close())

    def take(self, event: Event) -> None:
        """Something happened in the host; clients whom it concerns are told."""
        if isinstance(event, ToolsChanged):
            self._announce("tools")
        elif isinstance(event, ServerChanged):
            self._look_at(event.status.name)
            if event.status.name in self._relisting:
                self._relisting.discard(event.status.name)
                self._announce("tools")
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
        elif method == "notifications/tools/list_changed":
            self._relisting.add(server)  # told on when the new list is there, were it the same as before
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


def _what_to_do(status: ServerStatus) -> str:
    """About a server without tools: wait, or do what its status says."""
    if status.state in HOPELESS:
        return status.hint or f"`toolcrib start {status.name}` starts it again."
    return "Try again shortly."

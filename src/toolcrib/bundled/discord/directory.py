"""Finds servers and channels by name, id or link; errors list the choices when a name is unknown or
ambiguous. Limits: seconds that lists are remembered, servers searched for a channel. Names the kinds of
channels (text, forum, thread).

Lists are remembered for a minute, because finding a channel by its name needs two requests for each server.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from toolcrib.accounts.rest import RestClient, RestFailure
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.visible_text import one_line
from toolcrib.suggestions import did_you_mean

FRESH = 60.0
MAX_KEPT = 500
SERVER_PAGE = 200
MAX_SERVERS = 1000
MAX_SEARCHED = 25
"""Servers that are searched for a channel by its name alone."""
MAX_CHOICES = 10
_ID = re.compile(r"\d{15,20}")
_LINK = re.compile(r"https://(?:\w+\.)?discord\.com/channels/(?:\d+|@me)/(\d+)(?:/(\d+))?/?")
_KINDS = {
    0: "text",
    1: "direct message",
    2: "voice",
    3: "group",
    4: "category",
    5: "announcement",
    10: "thread",
    11: "thread",
    12: "private thread",
    13: "stage",
    15: "forum",
    16: "media",
}
FORUMS = ("forum", "media")
Found = TypeVar("Found")


@dataclass(frozen=True)
class DiscordServer:
    id: str
    name: str


@dataclass(frozen=True)
class DiscordChannel:
    id: str
    name: str
    kind: str
    server: DiscordServer | None
    parent: str | None = None
    """The id of its category, or of a thread's channel."""
    topic: str = ""

    @property
    def shown(self) -> str:
        """As the user reads it."""
        return f"#{self.name} in {self.server.name}" if self.server else self.name

    @property
    def written(self) -> str:
        """As a call can name it."""
        return f"{self.server.name}/#{self.name}" if self.server else self.id


class Recent:
    """What was fetched within the last minute."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, Any]] = {}

    async def get(self, key: str, fetch: Callable[[], Awaitable[Found]]) -> Found:
        """The kept value, else a new one."""
        at, value = self._kept.get(key, (0.0, None))
        if value is None or time.monotonic() - at > FRESH:
            value = await fetch()
            if len(self._kept) > MAX_KEPT:
                self._kept.clear()
            self._kept[key] = (time.monotonic(), value)
        return value  # type: ignore[no-any-return]

    def clear(self) -> None:
        self._kept.clear()


class Directory:
    """The servers and channels of one bot."""

    def __init__(self, api: RestClient, recent: Recent) -> None:
        self._api = api
        self._recent = recent

    async def servers(self) -> list[DiscordServer]:
        """The servers that the bot is in."""
        return await self._recent.get("servers", self._fetch_servers)

    async def server(self, text: str) -> DiscordServer:
        """The server with this name or id; raises `ToolFailure` listing the choices."""
        return await self._again(lambda: self._server(text))

    async def channels(self, server: DiscordServer) -> list[DiscordChannel]:
        """Its channels and active threads, categories included."""
        return await self._recent.get(f"channels {server.id}", lambda: self._fetch_channels(server))

    async def channel(self, text: str) -> DiscordChannel:
        """The channel with this name, id or link; raises `ToolFailure` listing the choices."""
        if identifier := channel_id(text):
            return await self._channel_by_id(identifier)
        return await self._again(lambda: self._channel_by_name(text))

    async def roles(self, server: DiscordServer) -> dict[str, str]:
        """Names of roles by id."""
        return await self._recent.get(f"roles {server.id}", lambda: self._fetch_roles(server))

    async def _again(self, find: Callable[[], Awaitable[Found]]) -> Found:
        """Look a second time, without what was remembered, before saying that something does not exist."""
        try:
            return await find()
        except RestFailure:
            raise
        except ToolFailure:
            self._recent.clear()
            return await find()

    async def _server(self, text: str) -> DiscordServer:
        servers = await self.servers()
        found = [
            server for server in servers if text.strip() == server.id or _plain(text) == _plain(server.name)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(f"{server.name} ({server.id})" for server in found[:MAX_CHOICES])
            raise ToolFailure(f"Several servers are called {text!r}.", f"Use the id: {choices}.")
        names = [server.name for server in servers]
        raise ToolFailure(f"The bot is in no server called {text!r}.", did_you_mean(text, names))

    async def _channel_by_name(self, text: str) -> DiscordChannel:
        wanted, servers = _plain(text), await self.servers()
        inside = [server for server in servers if wanted.startswith(f"{_plain(server.name)}/")]
        known = [
            channel
            for server in (inside or servers[:MAX_SEARCHED])
            for channel in await self.channels(server)
            if channel.kind != "category"
        ]
        found = [channel for channel in known if wanted in (_plain(channel.name), _plain(channel.written))]
        if len(found) == 1:
            return found[0]
        if found:
            choices = ", ".join(f"{channel.written} ({channel.id})" for channel in found[:MAX_CHOICES])
            raise ToolFailure(
                f"Several channels are called {text!r}.", f"Use server/channel or the id: {choices}."
            )
        names = [channel.written for channel in known] + [channel.name for channel in known]
        hint = f"{did_you_mean(text, names)} An archived thread is found by its id."
        raise ToolFailure(f"The bot finds no channel called {text!r}.", hint)

    async def _channel_by_id(self, identifier: str) -> DiscordChannel:
        raw = await self._recent.get(
            f"channel {identifier}", lambda: self._api.get(f"/channels/{identifier}", needs="View Channel")
        )
        servers = await self.servers()
        server = next((server for server in servers if server.id == raw.get("guild_id")), None)
        return _channel(raw, server)

    async def _fetch_servers(self) -> list[DiscordServer]:
        found: list[DiscordServer] = []
        while len(found) < MAX_SERVERS:
            after = {"after": found[-1].id} if found else {}
            page = await self._api.get("/users/@me/guilds", {"limit": SERVER_PAGE, **after})
            found += [DiscordServer(str(server["id"]), one_line(str(server["name"]))) for server in page]
            if len(page) < SERVER_PAGE:
                break
        return found

    async def _fetch_channels(self, server: DiscordServer) -> list[DiscordChannel]:
        channels = await self._api.get(f"/guilds/{server.id}/channels", needs="View Channels")
        active = await self._api.get(f"/guilds/{server.id}/threads/active", needs="View Channels")
        ordered = sorted(channels, key=lambda channel: (channel.get("position", 0), int(channel["id"])))
        return [_channel(channel, server) for channel in [*ordered, *active.get("threads", [])]]

    async def _fetch_roles(self, server: DiscordServer) -> dict[str, str]:
        raw = await self._api.get(f"/guilds/{server.id}/roles")
        return {str(role["id"]): str(role["name"]) for role in raw}


def channel_id(text: str) -> str | None:
    """The id in an id, a mention or a link."""
    text = text.strip()
    if link := _LINK.fullmatch(text):
        return link[1]
    bare = text.removeprefix("<#").removesuffix(">")
    return bare if _ID.fullmatch(bare) else None


def message_id(text: str) -> str:
    """The id in an id or a link; raises `ToolFailure`."""
    text = text.strip()
    link = _LINK.fullmatch(text)
    if link and link[2]:
        return link[2]
    if _ID.fullmatch(text):
        return text
    raise ToolFailure(f"{text[:80]!r} is not the id of a message.", "Read the channel to find its id.")


def _channel(raw: dict[str, Any], server: DiscordServer | None) -> DiscordChannel:
    people = ", ".join(str(recipient.get("username")) for recipient in raw.get("recipients", []))
    return DiscordChannel(
        id=str(raw["id"]),
        name=one_line(str(raw.get("name") or people or raw["id"])),
        kind=_KINDS.get(raw.get("type", -1), "other"),
        server=server,
        parent=raw.get("parent_id"),
        topic=one_line(str(raw.get("topic") or "")),
    )


def _plain(text: str) -> str:
    return text.strip().replace("/#", "/").removeprefix("#").casefold()

"""One call's connection to Discord as a bot, and reading messages through it: names in place of ids, the
error for forums, and why messages of others have no text."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from toolcrib.accounts import Account, AccountStore, choose
from toolcrib.accounts.discord import NO_CONTENT, open_discord, reads_content
from toolcrib.accounts.rate_limits import RateLimits
from toolcrib.accounts.rest import RestClient
from toolcrib.accounts.selection import check_writable
from toolcrib.bundled.discord.directory import Directory, DiscordChannel, Recent
from toolcrib.bundled.discord.markup import Names, mentions_channels, mentions_roles
from toolcrib.bundled.discord.results import DiscordMessage, hides_content, to_message
from toolcrib.serverkit.context import ToolFailure


@dataclass
class _Kept:
    """What outlives a call."""

    limits: RateLimits = field(default_factory=RateLimits)
    recent: Recent = field(default_factory=Recent)


class Bots:
    """Opens bots by the names of their accounts. Rate limits and lists are kept from call to call."""

    def __init__(self, store: AccountStore) -> None:
        self._store = store
        self._kept: dict[tuple[str, str], _Kept] = {}

    @asynccontextmanager
    async def open(self, name: str | None, *, changing: bool = False) -> AsyncIterator[Bot]:
        """The bot of an account; `changing` refuses read-only accounts."""
        account, token = await asyncio.to_thread(self._find, name)
        if changing:
            check_writable(account)
        identity = hashlib.sha256(f"{account.text('api')} {token}".encode()).hexdigest()
        kept = self._kept.setdefault((account.name, identity), _Kept())
        async with open_discord(account, token, kept.limits) as api:
            yield Bot(account, api, Directory(api, kept.recent), kept.recent)

    def _find(self, name: str | None) -> tuple[Account, str]:
        account = choose(self._store, "discord", name)
        return account, self._store.secret(account)


class Bot:
    def __init__(self, account: Account, api: RestClient, directory: Directory, recent: Recent) -> None:
        self.account = account
        self.api = api
        self.directory = directory
        self._recent = recent

    async def own_id(self) -> str:
        """The bot's user id."""
        me = await self._recent.get("me", lambda: self.api.get("/users/@me"))
        return str(me["id"])

    async def readable_channel(self, text: str) -> DiscordChannel:
        """A channel that has messages; raises `ToolFailure` naming the posts of a forum."""
        channel = await self.directory.channel(text)
        if channel.kind == "category":
            raise ToolFailure(f"{channel.name} is a category.", "Name one of its channels.")
        if channel.kind not in ("forum", "media"):
            return channel
        inside = await self.directory.channels(channel.server) if channel.server else []
        posts = [f"{thread.name} ({thread.id})" for thread in inside if thread.parent == channel.id]
        listed = f"Its active posts: {', '.join(posts[:30])}." if posts else "It has no active posts."
        raise ToolFailure(f"{channel.shown} is a forum: its posts are threads of their own.", listed)

    async def history(
        self, channel: DiscordChannel, limit: int, where: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Raw messages, the newest first; `where` has one of before, after and around."""
        found: list[dict[str, Any]] = await self.api.get(
            f"/channels/{channel.id}/messages",
            {"limit": limit, **(where or {})},
            needs="Read Message History",
        )
        return found

    async def message(self, channel: DiscordChannel, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = await self.api.get(
            f"/channels/{channel.id}/messages/{identifier}", needs="Read Message History"
        )
        return found

    async def readable(
        self, raw: Sequence[dict[str, Any]], channel: DiscordChannel | None
    ) -> list[DiscordMessage]:
        """Messages with names in place of ids."""
        names = await self._names([str(message.get("content") or "") for message in raw], channel)
        return [to_message(message, names) for message in raw]

    async def content_problem(self, raw: Sequence[dict[str, Any]]) -> str:
        """Why messages of others have no text; empty if they have."""
        own_id = await self.own_id() if raw else ""
        hidden = any(hides_content(message, own_id) for message in raw)
        return NO_CONTENT if hidden and not await reads_content(self.api) else ""

    async def _names(self, texts: Sequence[str], channel: DiscordChannel | None) -> Names:
        server = channel.server if channel else None
        if server is None:
            return Names()
        roles, channels = {}, {}
        if any(map(mentions_roles, texts)):
            roles = await self.directory.roles(server)
        if any(map(mentions_channels, texts)):
            channels = {channel.id: channel.name for channel in await self.directory.channels(server)}
        return Names(roles=roles, channels=channels)

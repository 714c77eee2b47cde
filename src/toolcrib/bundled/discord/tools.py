"""The nine tools. Descriptions for models are in `descriptions.toml`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from toolcrib.accounts import AccountStore
from toolcrib.bundled.discord import results
from toolcrib.bundled.discord.bot import Bot, Bots
from toolcrib.bundled.discord.changes import MessageChangeTools
from toolcrib.bundled.discord.directory import DiscordChannel, DiscordServer, message_id
from toolcrib.bundled.discord.markup import snowflake
from toolcrib.bundled.discord.messages import DiscordMessage, fitting
from toolcrib.bundled.discord.search import Search, SearchOutcome, search
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import readable
from toolcrib.serverkit.server import ToolServer

MAX_LIMIT = 100
MAX_CHANNELS = 200
"""Of one result."""
READING: dict[str, Any] = {
    "read_only": True,
    "open_world": True,
    "outside": True,
    "private": True,
    "reach": "account",
}


class DiscordTools:
    """What models may read; `MessageChangeTools` has the rest."""

    def __init__(self, store: AccountStore) -> None:
        self._bots = Bots(store)

    def offer(self, server: ToolServer) -> None:
        """Add all tools to a server."""
        for title, function, render in (
            ("List Discord servers", self.list_servers, results.server_text),
            ("List Discord channels", self.list_channels, results.channel_text),
            ("Read Discord messages", self.read_messages, results.page_text),
            ("Search Discord messages", self.search_messages, results.found_text),
        ):
            server.tool(title=title, **READING)(readable(function, render))
        MessageChangeTools(self._bots).offer(server)

    async def list_servers(self, account: str | None = None) -> results.ServerList:
        async with self._bots.open(account) as bot:
            servers = await bot.directory.servers()
            listed: list[results.ServerItem] = [{"id": server.id, "name": server.name} for server in servers]
            return {"account": bot.account.name, "servers": listed}

    async def list_channels(
        self, server: str, search: str = "", offset: int = 0, account: str | None = None
    ) -> results.ChannelList:
        async with self._bots.open(account) as bot:
            found = await bot.directory.server(server)
            channels = await bot.directory.channels(found)
        names = {channel.id: channel.name for channel in channels}
        wanted = [
            channel for channel in channels if channel.kind != "category" and _contains(channel.name, search)
        ]
        end = max(0, offset) + MAX_CHANNELS
        return {
            "server": found.name,
            "server_id": found.id,
            "channels": [_item(channel, names) for channel in wanted[max(0, offset) : end]],
            "next_offset": end if end < len(wanted) else None,
        }

    async def read_messages(
        self,
        channel: str,
        limit: int = 30,
        before: str | None = None,
        after: str | None = None,
        around: str | None = None,
        account: str | None = None,
    ) -> results.MessagePage:
        limit = _checked(limit)
        where = _position(before=before, after=after, around=around)
        async with self._bots.open(account) as bot:
            found = await bot.readable_channel(channel)
            raw = await bot.history(found, limit, where)
            messages = await bot.readable(raw, found)
            note = await bot.content_problem(raw)
        if not raw:
            note = "No messages here. Without the permission Read Message History the bot sees none."
        return _page(found, messages, limit, where, note)

    async def search_messages(
        self,
        query: str,
        server: str | None = None,
        channel: str | None = None,
        author: str | None = None,
        since: str | None = None,
        before: str | None = None,
        limit: int = 25,
        account: str | None = None,
    ) -> results.FoundMessages:
        async with self._bots.open(account) as bot:
            place, guild = await _scope(bot, server, channel)
            wanted = Search(
                query=query.strip(),
                server=guild,
                channel=place,
                author=author,
                since=_time(since) if since else None,
                before=_message_or_time(before) if before else None,
                limit=_checked(limit),
            )
            outcome = await search(bot, wanted)
            messages = await _found(bot, outcome)
            note = await bot.content_problem([raw for raw, _ in outcome.found])
        count = fitting(messages)
        older = outcome.older if count == len(messages) else messages[count - 1]["id"]
        return {"messages": messages[:count], "looked_at": outcome.looked_at, "older": older, "note": note}


async def _scope(
    bot: Bot, server: str | None, channel: str | None
) -> tuple[DiscordChannel | None, DiscordServer | None]:
    if channel:
        found = await bot.readable_channel(channel)
        return found, found.server
    if server:
        return None, await bot.directory.server(server)
    servers = await bot.directory.servers()
    if len(servers) == 1:
        return None, servers[0]
    names = ", ".join(server.name for server in servers[:20])
    raise ToolFailure("Where to search is missing.", f"Give `channel`, or `server`, one of: {names}.")


async def _found(bot: Bot, outcome: SearchOutcome) -> list[DiscordMessage]:
    messages: list[DiscordMessage] = []
    for raw, channel in outcome.found:
        (message,) = await bot.readable([raw], channel)
        message["channel"] = channel.written if channel else str(raw.get("channel_id", ""))
        message["channel_id"] = str(raw.get("channel_id") or (channel.id if channel else ""))
        messages.append(message)
    return messages


def _page(
    channel: DiscordChannel, newest_first: list[DiscordMessage], limit: int, where: dict[str, str], note: str
) -> results.MessagePage:
    """Of messages that do not fit, those are left out that the next page can have."""
    full = len(newest_first) >= limit
    if "after" in where:
        kept = newest_first[::-1][: fitting(newest_first[::-1])]
        newer, older = full or len(kept) < len(newest_first), bool(kept)
    else:
        kept = newest_first[: fitting(newest_first)][::-1]
        older, newer = full or len(kept) < len(newest_first), bool(where) and bool(kept)
    return {
        "channel": channel.shown,
        "channel_id": channel.id,
        "messages": kept,
        "older": kept[0]["id"] if older and kept else None,
        "newer": kept[-1]["id"] if newer and kept else None,
        "note": note,
    }


def _item(channel: DiscordChannel, names: dict[str, str]) -> results.ChannelItem:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind,
        "inside": names.get(channel.parent or "", ""),
        "topic": channel.topic,
    }


def _contains(name: str, search: str) -> bool:
    return search.strip().removeprefix("#").casefold() in name.casefold()


def _checked(limit: int) -> int:
    if not 1 <= limit <= MAX_LIMIT:
        raise ToolFailure(f"limit must be 1 to {MAX_LIMIT}.", "Continue with `before` for more.")
    return limit


def _position(**given: str | None) -> dict[str, str]:
    where = {name: _message_or_time(text) for name, text in given.items() if text}
    if len(where) > 1:
        raise ToolFailure("Only one of before, after and around can be given.", "Leave out the others.")
    return where


def _message_or_time(text: str) -> str:
    try:
        return message_id(text)
    except ToolFailure:
        return snowflake(_time(text))


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError):
        raise ToolFailure(
            f"{text[:80]!r} is neither a message id nor a time.", "Write a time such as 2026-05-01T14:00."
        ) from None

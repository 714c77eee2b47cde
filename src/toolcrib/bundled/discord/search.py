"""Finds messages with Discord's search, or by reading a part of the history if it is not available. Limits:
messages and channels that are read then, and the note that says how far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from toolcrib.accounts.discord import display_name
from toolcrib.accounts.rest import RestFailure, RestRequest
from toolcrib.bundled.discord.bot import Bot
from toolcrib.bundled.discord.directory import DiscordChannel, DiscordServer
from toolcrib.bundled.discord.markup import local, snowflake, time_of
from toolcrib.bundled.discord.sending import find_member
from toolcrib.serverkit.context import ToolFailure

PAGE = 25
"""The most results that Discord returns at once."""
MAX_READ = 1000
"""Messages of one channel that are read if there is no search."""
MAX_READ_EACH = 200
"""… and of each channel of a server."""
MAX_CHANNELS = 20
_READABLE = ("text", "announcement", "thread", "voice", "stage")
Matches = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, kw_only=True)
class Search:
    query: str
    server: DiscordServer | None
    channel: DiscordChannel | None
    author: str | None
    since: datetime | None
    before: str | None
    """A message id: only older ones."""
    limit: int


@dataclass(frozen=True)
class SearchOutcome:
    found: list[tuple[dict[str, Any], DiscordChannel | None]]
    """Raw messages, the newest first, with their channels."""
    looked_at: str
    """One sentence about where and how far."""
    older: str | None
    """The message before which a further search continues."""


async def search(bot: Bot, wanted: Search) -> SearchOutcome:
    """Search, or else read."""
    if wanted.server is not None:
        outcome = await _by_index(bot, wanted, wanted.server)
        if outcome is not None:
            return outcome
    return await _by_reading(bot, wanted)


async def _by_index(bot: Bot, wanted: Search, server: DiscordServer) -> SearchOutcome | None:
    """None if this server has no search for bots, or its index is not ready."""
    params = await _params(bot, wanted, server)
    found: list[dict[str, Any]] = []
    total = 0
    while len(found) < wanted.limit:
        page = await _index_page(bot, server, {**params, "offset": len(found)})
        if page is None:
            return None
        hits = [message for group in page.get("messages", []) for message in group[:1]]
        total = int(page.get("total_results") or 0)
        found += hits
        if len(hits) < PAGE:
            break
    channels = {channel.id: channel for channel in await bot.directory.channels(server)}
    pairs = [(message, channels.get(str(message.get("channel_id")))) for message in found[: wanted.limit]]
    place = wanted.channel.shown if wanted.channel else server.name
    older = str(pairs[-1][0]["id"]) if pairs and total > len(pairs) else None
    return SearchOutcome(pairs, f"Discord's search found {total} in all of {place}.", older)


async def _index_page(bot: Bot, server: DiscordServer, params: dict[str, Any]) -> dict[str, Any] | None:
    path = f"/guilds/{server.id}/messages/search"
    try:
        reply = await bot.api.send(RestRequest("GET", path, params, needs="Read Message History"))
    except RestFailure as failure:
        if failure.status in (400, 401, 429) or not failure.status:
            raise
        return None
    if reply.status == 202 or not isinstance(reply.data, dict):
        return None
    return reply.data


async def _params(bot: Bot, wanted: Search, server: DiscordServer) -> dict[str, Any]:
    params: dict[str, Any] = {"limit": PAGE, "sort_by": "timestamp", "sort_order": "desc"}
    if wanted.query:
        params["content"] = wanted.query
    if wanted.channel:
        params["channel_id"] = wanted.channel.id
    if wanted.author:
        params["author_id"] = (await find_member(bot.api, server, wanted.author))[0]
    if wanted.since:
        params["min_id"] = snowflake(wanted.since)
    if wanted.before:
        params["max_id"] = wanted.before
    return params


async def _by_reading(bot: Bot, wanted: Search) -> SearchOutcome:
    channels = [wanted.channel] if wanted.channel else await _channels(bot, wanted.server)
    matches = _matcher(wanted)
    found: list[tuple[dict[str, Any], DiscordChannel | None]] = []
    read, reached, unreadable = 0, 0, 0
    for channel in channels:
        try:
            messages, complete = await _read(bot, channel, wanted)
        except RestFailure as failure:
            if wanted.channel or failure.status != 403:
                raise
            unreadable += 1
            continue
        read += len(messages)
        if messages and not complete:
            reached = max(reached, int(messages[-1]["id"]))
        found += [(message, channel) for message in messages if matches(message)]
    found.sort(key=lambda pair: -int(pair[0]["id"]))
    older = _older(found, wanted.limit) or (str(reached) if reached else None)
    return SearchOutcome(
        found[: wanted.limit], _how_far(wanted, len(channels), read, reached, unreadable), older
    )


def _older(found: list[tuple[dict[str, Any], DiscordChannel | None]], limit: int) -> str | None:
    return str(found[limit - 1][0]["id"]) if len(found) > limit else None


async def _channels(bot: Bot, server: DiscordServer | None) -> list[DiscordChannel]:
    if server is None:
        raise ToolFailure("Where to search is missing.", "Give `server` or `channel`.")
    known = await bot.directory.channels(server)
    return [channel for channel in known if channel.kind in _READABLE][:MAX_CHANNELS]


async def _read(bot: Bot, channel: DiscordChannel, wanted: Search) -> tuple[list[dict[str, Any]], bool]:
    """Messages of a channel, the newest first, and whether these are all."""
    most = MAX_READ if wanted.channel else MAX_READ_EACH
    first = snowflake(wanted.since) if wanted.since else "0"
    before, read = wanted.before, list[dict[str, Any]]()
    while len(read) < most:
        page = await bot.history(channel, 100, {"before": before} if before else {})
        inside = [message for message in page if int(message["id"]) >= int(first)]
        read += inside
        if len(page) < 100 or len(inside) < len(page):
            return read, True
        before = str(page[-1]["id"])
    return read, False


def _matcher(wanted: Search) -> Matches:
    words = wanted.query.casefold().split()
    author = (wanted.author or "").strip().removeprefix("@").casefold()

    def matches(raw: dict[str, Any]) -> bool:
        by = raw.get("author") or {}
        names = (display_name(by), str(by.get("username")), str(by.get("id")))
        text = str(raw.get("content") or "").casefold()
        by_author = not author or author in (name.casefold() for name in names)
        return by_author and all(word in text for word in words)

    return matches


def _how_far(wanted: Search, channels: int, read: int, reached: int, unreadable: int) -> str:
    place = wanted.channel.shown if wanted.channel else f"{channels} channels"
    text = f"Discord's search is not available here, so {read} messages of {place} were read, "
    text += f"back to {local(time_of(reached))}." if reached else "which are all."
    return f"{text} {unreadable} channels cannot be read by the bot." if unreadable else text

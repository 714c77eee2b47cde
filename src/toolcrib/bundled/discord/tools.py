"""The nine tools: defaults and limits of how many messages or channels, times in arguments, posts in forums,
emojis, and the previews of those that change something. Descriptions for models are in
`descriptions.toml`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from toolcrib.accounts import AccountStore
from toolcrib.accounts.discord import display_name
from toolcrib.accounts.rest import RestFailure
from toolcrib.bundled.discord import results
from toolcrib.bundled.discord.bot import Bot, Bots
from toolcrib.bundled.discord.directory import FORUMS, DiscordChannel, DiscordServer, message_id
from toolcrib.bundled.discord.markup import Names, shown_markup, snowflake
from toolcrib.bundled.discord.results import DiscordMessage, fitting
from toolcrib.bundled.discord.search import Search, SearchOutcome, search
from toolcrib.bundled.discord.sending import LONGEST, Mentions, compose, find_mentions, split_text
from toolcrib.serverkit.approved import ShownPreviews
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

CHANGING: dict[str, Any] = {"open_world": True, "reach": "anybody"}
SEND = "Send Messages"


class DiscordTools:
    def __init__(self, store: AccountStore) -> None:
        self._bots = Bots(store)
        self._asked = ShownPreviews()

    def offer(self, server: ToolServer) -> None:
        """Add all tools to a server."""
        for title, function, render in (
            ("List Discord servers", self.list_servers, results.server_text),
            ("List Discord channels", self.list_channels, results.channel_text),
            ("Read Discord messages", self.read_messages, results.page_text),
            ("Search Discord messages", self.search_messages, results.found_text),
        ):
            server.tool(title=title, **READING)(readable(function, render))
        offered: Any = (
            ("Send a Discord message", self.send_message, results.sent_text, self._preview_send, False),
            ("Reply on Discord", self.reply_to_message, results.sent_text, self._preview_reply, False),
            ("Edit a Discord message", self.edit_message, results.changed_text, self._preview_edit, True),
            (
                "Delete a Discord message",
                self.delete_message,
                results.changed_text,
                self._preview_delete,
                True,
            ),
            ("React on Discord", self.add_reaction, results.changed_text, self._preview_reaction, False),
        )
        for title, function, render, preview, destructive in offered:
            server.tool(
                title=title,
                destructive=destructive,
                idempotent=function not in (self.send_message, self.reply_to_message),
                preview=preview,
                **CHANGING,
            )(readable(function, render))

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

    async def send_message(
        self,
        channel: str,
        text: str,
        title: str | None = None,
        mention: list[str] | None = None,
        mention_everyone: bool = False,
        account: str | None = None,
    ) -> results.SentMessage:
        async with self._bots.open(account, changing=True) as bot:
            place = await _target(bot, channel, title)
            mentions = await _mentions(bot, place, mention, mention_everyone)
            self._asked.check({}, bot.account.name, place.id, mentions)
            parts = split_text(compose(text, mentions))
            if place.kind in FORUMS:
                return await _post(bot, place, str(title), parts, mentions)
            return await _send(bot, place, parts, mentions)

    async def reply_to_message(
        self,
        channel: str,
        message: str,
        text: str,
        notify_author: bool = False,
        mention: list[str] | None = None,
        mention_everyone: bool = False,
        account: str | None = None,
    ) -> results.SentMessage:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            original = await bot.message(place, message_id(message))
            mentions = await _mentions(bot, place, mention, mention_everyone)
            self._asked.check({}, bot.account.name, place.id, mentions)
            parts = split_text(compose(text, mentions))
            return await _send(bot, place, parts, replace(mentions, author=notify_author), original)

    async def edit_message(
        self, channel: str, message: str, text: str, account: str | None = None
    ) -> results.ChangedMessage:
        async with self._bots.open(account, changing=True) as bot:
            place, original = await _own(bot, channel, message)
            body = {"content": _single(text), "allowed_mentions": Mentions().allowed()}
            await bot.api.change("PATCH", f"/channels/{place.id}/messages/{original['id']}", body, needs=SEND)
        return _changed(place, original, "Edited")

    async def delete_message(
        self, channel: str, message: str, account: str | None = None
    ) -> results.ChangedMessage:
        async with self._bots.open(account, changing=True) as bot:
            place, original = await _own(bot, channel, message)
            try:
                await bot.api.change("DELETE", f"/channels/{place.id}/messages/{original['id']}")
            except RestFailure as failure:  # an earlier attempt deleted it, and its answer was lost
                if failure.status != 404:
                    raise
        return _changed(place, original, "Deleted")

    async def add_reaction(
        self, channel: str, message: str, emoji: str, account: str | None = None
    ) -> results.ChangedMessage:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            identifier, name = message_id(message), _emoji(emoji)
            path = f"/channels/{place.id}/messages/{identifier}/reactions/{quote(name, safe=':')}/@me"
            await bot.api.change("PUT", path, needs="Add Reactions")
        return _changed(place, {"id": identifier}, f"Reacted with {emoji}")

    async def _preview_send(
        self, channel: str, text: str, title: str | None = None, account: str | None = None, **mentioned: Any
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place = await _target(bot, channel, title)
            mentions = await _mentions(bot, place, **mentioned)
            self._asked.keep({}, bot.account.name, place.id, mentions)
            shown = _shown(text, mentions)
            return _preview(bot, "send", place, f"{title}\n\n{shown}" if title else shown, mentions)

    async def _preview_reply(
        self,
        channel: str,
        message: str,
        text: str,
        notify_author: bool = False,
        account: str | None = None,
        **mentioned: Any,
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            original = await bot.message(place, message_id(message))
            mentions = await _mentions(bot, place, **mentioned)
            self._asked.keep({}, bot.account.name, place.id, mentions)
            shown = _preview(bot, "reply", place, _shown(text, mentions), mentions)
            author = display_name(original.get("author") or {})
            notified = [f"@{author} (author)"] if notify_author else []
            return {**shown, "to": author, "mentions": [*shown["mentions"], *notified]}

    async def _preview_edit(
        self, channel: str, message: str, text: str, account: str | None = None
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place, _ = await _own(bot, channel, message)
            return _preview(bot, "edit", place, _single(text))

    async def _preview_delete(self, channel: str, message: str, account: str | None = None) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place, original = await _own(bot, channel, message)
            return _preview(bot, "delete", place, str(original.get("content") or ""))

    async def _preview_reaction(
        self, channel: str, message: str, emoji: str, account: str | None = None
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            original = await bot.message(place, message_id(message))
            shown = _preview(bot, "react", place, emoji)
            return {**shown, "to": display_name(original.get("author") or {})}


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


async def _target(bot: Bot, channel: str, title: str | None) -> DiscordChannel:
    """Where to send: a title makes a post in a forum, and only there."""
    place = await bot.directory.channel(channel)
    if place.kind not in FORUMS:
        if title:
            raise ToolFailure(f"{place.shown} is no forum, so messages there have no title.", "Leave it out.")
        return await bot.readable_channel(channel)
    if not title or len(title) > 100:
        raise ToolFailure(
            f"{place.shown} is a forum: a new post needs a title of at most 100 characters.",
            "Give `title`, or name a post (a thread) to write to.",
        )
    return place


async def _mentions(
    bot: Bot, place: DiscordChannel, mention: Sequence[str] | None = None, mention_everyone: bool = False
) -> Mentions:
    return await find_mentions(bot.api, bot.directory, place.server, mention or (), mention_everyone)


async def _own(bot: Bot, channel: str, message: str) -> tuple[DiscordChannel, dict[str, Any]]:
    """A message of the bot itself; raises `ToolFailure` for those of others."""
    place = await bot.readable_channel(channel)
    original = await bot.message(place, message_id(message))
    author = original.get("author") or {}
    if author.get("id") != await bot.own_id():
        raise ToolFailure(
            f"The message was written by {display_name(author)}, not by the bot.",
            "Only the bot's own messages can be edited and deleted.",
        )
    return place, original


async def _send(
    bot: Bot,
    place: DiscordChannel,
    parts: Sequence[str],
    mentions: Mentions,
    original: dict[str, Any] | None = None,
    already: Sequence[str] = (),
) -> results.SentMessage:
    """Send the parts; `already` has the ids of those that were sent before."""
    sent = list(already)
    for part in parts[len(already) :]:
        # With a nonce that Discord enforces, a repeated request does not send the message twice.
        body: dict[str, Any] = {
            "content": part,
            "allowed_mentions": mentions.allowed(),
            "nonce": secrets.token_hex(12),
            "enforce_nonce": True,
        }
        if original is not None and not sent:
            body["message_reference"] = {"message_id": original["id"], "fail_if_not_exists": True}
        try:
            reply = await bot.api.change(
                "POST", f"/channels/{place.id}/messages", body, needs=SEND, repeatable=True
            )
        except RestFailure as failure:
            raise _incomplete(failure, place, sent, parts) from failure
        sent.append(str(reply["id"]))
    return {"channel": place.shown, "channel_id": place.id, "ids": sent, "notified": mentions.shown()}


async def _post(
    bot: Bot, forum: DiscordChannel, title: str, parts: Sequence[str], mentions: Mentions
) -> results.SentMessage:
    """A new post of a forum; its further parts are messages in the post's thread."""
    first = {"content": parts[0], "allowed_mentions": mentions.allowed()}
    path = f"/channels/{forum.id}/threads"
    thread = await bot.api.change("POST", path, {"name": title, "message": first}, needs=SEND)
    place = DiscordChannel(str(thread["id"]), title, "thread", forum.server, forum.id)
    message = thread.get("message") or {}
    return await _send(bot, place, parts, mentions, already=[str(message.get("id") or thread["id"])])


def _incomplete(
    failure: RestFailure, place: DiscordChannel, sent: Sequence[str], parts: Sequence[str]
) -> ToolFailure:
    if not sent:
        return failure
    return ToolFailure(
        f"Only {len(sent)} of {len(parts)} messages were sent (ids {', '.join(sent)}). {failure.message}",
        f"Send only the rest again, to the channel {place.id}, from: {parts[len(sent)][:60]!r}",
    )


def _single(text: str) -> str:
    parts = split_text(compose(text, Mentions()))
    if len(parts) > 1:
        raise ToolFailure(
            f"The text has {len(text)} characters; one message has at most {LONGEST}.", "Shorten it."
        )
    return parts[0]


def _emoji(text: str) -> str:
    """A Unicode emoji, or `name:id` of one of the server's own."""
    name = text.strip().removeprefix("<").removesuffix(">").removeprefix("a:").removeprefix(":")
    if not name or len(name) > 60 or "/" in name:
        raise ToolFailure(f"{text[:60]!r} is not an emoji.", "Use a Unicode emoji, or name:id.")
    return name


def _shown(text: str, mentions: Mentions) -> str:
    """The text as Discord will show it; several messages are numbered.

    Invisible characters stay in it, so that the question can show that they would be sent.
    """
    names = Names(mentions.users, mentions.roles)
    parts = [shown_markup(part, names) for part in split_text(compose(text, mentions))]
    if len(parts) == 1:
        return parts[0]
    return "\n\n".join(f"[Message {at} of {len(parts)}]\n{part}" for at, part in enumerate(parts, 1))


def _preview(
    bot: Bot, action: str, place: DiscordChannel, text: str, mentions: Mentions | None = None
) -> dict[str, Any]:
    return {
        "kind": "message",
        "action": action,
        "account": bot.account.name,
        "service": "discord",
        "channel": place.shown,
        "to": place.server.name if place.server else place.name,
        "text": text,
        "mentions": mentions.shown() if mentions else [],
    }


def _changed(place: DiscordChannel, message: dict[str, Any], done: str) -> results.ChangedMessage:
    return {"channel": place.shown, "channel_id": place.id, "id": str(message["id"]), "done": done}

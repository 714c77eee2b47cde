"""The tools that send, edit, delete and react, each with the preview that an approval question shows."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from toolcrib.accounts.discord import display_name
from toolcrib.accounts.rest import RestFailure
from toolcrib.bundled.discord.bot import Bot, Bots
from toolcrib.bundled.discord.directory import FORUMS, DiscordChannel, message_id
from toolcrib.bundled.discord.markup import Names, shown_markup
from toolcrib.bundled.discord.results import ChangedMessage, SentMessage, changed_text, sent_text
from toolcrib.bundled.discord.sending import LONGEST, Mentions, compose, find_mentions, split_text
from toolcrib.serverkit.approved import ShownPreviews
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import readable
from toolcrib.serverkit.server import ToolServer

CHANGING: dict[str, Any] = {"open_world": True, "reach": "anybody"}
SEND = "Send Messages"


class MessageChangeTools:
    def __init__(self, bots: Bots) -> None:
        self._bots = bots
        self._asked = ShownPreviews()

    def offer(self, server: ToolServer) -> None:
        """Add the tools to a server."""
        offered: Any = (
            ("Send a Discord message", self.send_message, sent_text, self._preview_send, False),
            ("Reply on Discord", self.reply_to_message, sent_text, self._preview_reply, False),
            ("Edit a Discord message", self.edit_message, changed_text, self._preview_edit, True),
            ("Delete a Discord message", self.delete_message, changed_text, self._preview_delete, True),
            ("React on Discord", self.add_reaction, changed_text, self._preview_reaction, False),
        )
        for title, function, render, preview, destructive in offered:
            server.tool(
                title=title,
                destructive=destructive,
                idempotent=function not in (self.send_message, self.reply_to_message),
                preview=preview,
                **CHANGING,
            )(readable(function, render))

    async def send_message(
        self,
        channel: str,
        text: str,
        title: str | None = None,
        mention: list[str] | None = None,
        mention_everyone: bool = False,
        account: str | None = None,
    ) -> SentMessage:
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
    ) -> SentMessage:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            original = await bot.message(place, message_id(message))
            mentions = await _mentions(bot, place, mention, mention_everyone)
            self._asked.check({}, bot.account.name, place.id, mentions)
            parts = split_text(compose(text, mentions))
            return await _send(bot, place, parts, replace(mentions, author=notify_author), original)

    async def edit_message(
        self, channel: str, message: str, text: str, account: str | None = None
    ) -> ChangedMessage:
        async with self._bots.open(account, changing=True) as bot:
            place, original = await _own(bot, channel, message)
            body = {"content": _single(text), "allowed_mentions": Mentions().allowed()}
            await bot.api.change("PATCH", f"/channels/{place.id}/messages/{original['id']}", body, needs=SEND)
        return _changed(place, original, "Edited")

    async def delete_message(self, channel: str, message: str, account: str | None = None) -> ChangedMessage:
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
    ) -> ChangedMessage:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            identifier, name = message_id(message), _emoji(emoji)
            path = f"/channels/{place.id}/messages/{identifier}/reactions/{quote(name, safe=':')}/@me"
            await bot.api.change("PUT", path, needs="Add Reactions")
        return _changed(place, {"id": identifier}, f"Reacted with {emoji}")

    async def _preview_send(
        self,
        channel: str,
        text: str,
        title: str | None = None,
        mention: list[str] | None = None,
        mention_everyone: bool = False,
        account: str | None = None,
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place = await _target(bot, channel, title)
            mentions = await _mentions(bot, place, mention, mention_everyone)
            self._asked.keep({}, bot.account.name, place.id, mentions)
            shown = _shown(text, mentions)
            return _preview(bot, "send", place, f"{title}\n\n{shown}" if title else shown, mentions)

    async def _preview_reply(
        self,
        channel: str,
        message: str,
        text: str,
        notify_author: bool = False,
        mention: list[str] | None = None,
        mention_everyone: bool = False,
        account: str | None = None,
    ) -> dict[str, Any]:
        async with self._bots.open(account, changing=True) as bot:
            place = await bot.readable_channel(channel)
            original = await bot.message(place, message_id(message))
            mentions = await _mentions(bot, place, mention, mention_everyone)
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


async def _mentions(bot: Bot, place: DiscordChannel, names: Sequence[str] | None, everyone: bool) -> Mentions:
    return await find_mentions(bot.api, bot.directory, place.server, names or (), everyone)


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
) -> SentMessage:
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
) -> SentMessage:
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


def _changed(place: DiscordChannel, message: dict[str, Any], done: str) -> ChangedMessage:
    return {"channel": place.shown, "channel_id": place.id, "id": str(message["id"]), "done": done}

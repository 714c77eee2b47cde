"""A small Discord: routes, permissions, paging and rate limits of the REST API, version 10."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.bundled.loopback import Answer, Asked, Service

TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789AB"
BOT = {"id": "900000000000000001", "username": "helper", "global_name": None, "bot": True}
ADA = {"id": "900000000000000002", "username": "ada", "global_name": "Ada"}
BOB = {"id": "900000000000000003", "username": "bob", "global_name": "Bob"}
ANNA = {"id": "900000000000000004", "username": "anna", "global_name": "Ann"}
GARDEN, CLUB = "800000000000000001", "800000000000000002"
GENERAL, NEWS, IDEAS, PLANTS = (f"70000000000000000{number}" for number in range(1, 5))
CLUB_GENERAL, POST, SECRET = "700000000000000011", "700000000000000012", "700000000000000013"
MODS = "600000000000000001"
FIRST_MESSAGE = 1_200_000_000_000_000_000
MINUTE = 60_000 << 22
EPOCH = 1_420_070_400_000
CONTENT = 1 << 19


def unknown(code: int, what: str) -> Answer:
    return Answer(404, {"message": f"Unknown {what}", "code": code})


@dataclass
class Channel:
    id: str
    guild: str
    name: str
    type: int = 0
    parent: str | None = None
    topic: str | None = None
    messages: list[dict[str, Any]] = field(default_factory=list)
    """The oldest first."""

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "guild_id": self.guild,
            "name": self.name,
            "type": self.type,
            "parent_id": self.parent,
            "topic": self.topic,
            "position": 0,
        }


class Discord(Service):
    """Two servers with a few channels."""

    def __init__(self) -> None:
        super().__init__()
        self.channels = {
            each.id: each
            for each in (
                Channel("700000000000000000", GARDEN, "Talk", type=4),
                Channel(GENERAL, GARDEN, "general", parent="700000000000000000", topic="All about plants"),
                Channel(NEWS, GARDEN, "news", type=5),
                Channel(IDEAS, GARDEN, "ideas", type=15),
                Channel(PLANTS, GARDEN, "plants"),
                Channel(POST, GARDEN, "A pond?", type=11, parent=IDEAS),
                Channel(SECRET, GARDEN, "board"),
                Channel(CLUB_GENERAL, CLUB, "general"),
            )
        }
        self.flags = CONTENT
        self.searchable = True
        self.indexed = True
        self.denied: set[tuple[str, str]] = {("view", SECRET)}
        """Permissions that the bot lacks in a channel: view, send, react."""
        self.remaining: dict[str, int] = {}
        """Requests left in the window of a channel's messages; counted down if set."""
        self.nonces: dict[str, dict[str, Any]] = {}
        self._ids = itertools.count(FIRST_MESSAGE, MINUTE)

    @property
    def api(self) -> str:
        return f"{self.address}/api/v10"

    def write(self, channel: str, author: dict[str, Any], text: str, **more: Any) -> dict[str, Any]:
        """A message of someone, one minute after the last."""
        identifier = next(self._ids)
        message = {
            "id": str(identifier),
            "channel_id": channel,
            "author": author,
            "content": text,
            "timestamp": stamp(identifier),
            "edited_timestamp": None,
            "type": 0,
            "attachments": [],
            "embeds": [],
            "mentions": [user for user in (ADA, BOB, ANNA, BOT) if f"<@{user['id']}>" in text],
            "pinned": False,
            **more,
        }
        self.channels[channel].messages.append(message)
        return message

    def respond(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != f"Bot {TOKEN}":
            return Answer(401, {"message": "401: Unauthorized", "code": 0})
        if not asked.headers.get("user-agent", "").startswith("DiscordBot ("):
            return Answer(403, b"error code: 40333")
        path = asked.path.removeprefix("/api/v10")
        for method, pattern, answer in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and method == asked.method:
                return answer(self, asked, *found.groups())
        return Answer(404, {"message": "404: Not Found", "code": 0})

    def me(self, asked: Asked) -> Answer:
        return Answer(200, BOT)

    def application(self, asked: Asked) -> Answer:
        return Answer(200, {"id": BOT["id"], "name": "helper", "flags": self.flags})

    def guilds(self, asked: Asked) -> Answer:
        return Answer(200, [{"id": GARDEN, "name": "Garden friends"}, {"id": CLUB, "name": "Book club"}])

    def guild_channels(self, asked: Asked, guild: str) -> Answer:
        if guild not in (GARDEN, CLUB):
            return unknown(10004, "Guild")
        return Answer(200, [each.as_json() for each in self._of(guild) if each.type not in (10, 11, 12)])

    def threads(self, asked: Asked, guild: str) -> Answer:
        threads = [each.as_json() for each in self._of(guild) if each.type in (10, 11, 12)]
        return Answer(200, {"threads": threads, "members": []})

    def roles(self, asked: Asked, guild: str) -> Answer:
        return Answer(200, [{"id": guild, "name": "@everyone"}, {"id": MODS, "name": "Gardeners"}])

    def member(self, asked: Asked, guild: str, user: str) -> Answer:
        found = [each for each in (ADA, BOB, ANNA, BOT) if each["id"] == user]
        return Answer(200, {"user": found[0], "nick": None}) if found else unknown(10007, "Member")

    def find_members(self, asked: Asked, guild: str) -> Answer:
        start = asked.one("query").casefold()
        names = [(each, (str(each["username"]), str(each["global_name"]))) for each in (ADA, BOB, ANNA)]
        found = [each for each, known in names if any(name.casefold().startswith(start) for name in known)]
        return Answer(200, [{"user": each, "nick": None} for each in found])

    def channel(self, asked: Asked, channel: str) -> Answer:
        found = self.channels.get(channel)
        return Answer(200, found.as_json()) if found else unknown(10003, "Channel")

    def history(self, asked: Asked, channel: str) -> Answer:
        if refused := self._refused("view", channel):
            return refused
        if limited := self._limited(channel):
            return limited
        messages = self.channels[channel].messages
        limit = int(asked.one("limit", "50"))
        if not 1 <= limit <= 100:
            return Answer(400, {"message": "Invalid Form Body", "code": 50035})
        if before := asked.one("before"):
            messages = [each for each in messages if int(each["id"]) < int(before)][-limit:]
        elif after := asked.one("after"):
            messages = [each for each in messages if int(each["id"]) > int(after)][:limit]
        elif around := asked.one("around"):
            older = [each for each in messages if int(each["id"]) <= int(around)][-(limit // 2 + 1) :]
            messages = older + [each for each in messages if int(each["id"]) > int(around)][: limit // 2]
        else:
            messages = messages[-limit:]
        return Answer(200, [self._seen(each) for each in reversed(messages)], self._limit_headers(channel))

    def message(self, asked: Asked, channel: str, message: str) -> Answer:
        if refused := self._refused("view", channel):
            return refused
        found = [each for each in self.channels[channel].messages if each["id"] == message]
        return Answer(200, self._seen(found[0])) if found else unknown(10008, "Message")

    def create(self, asked: Asked, channel: str) -> Answer:
        if refused := self._refused("view", channel) or self._refused("send", channel):
            return refused
        if limited := self._limited(channel):
            return limited
        if problem := form_problem(asked.body):
            return problem
        nonce = asked.body.get("nonce")
        if asked.body.get("enforce_nonce") and nonce in self.nonces:
            return Answer(200, self.nonces[nonce])
        reference = asked.body.get("message_reference")
        more = {"type": 19, "message_reference": reference} if reference else {}
        made = self.write(channel, BOT, asked.body["content"], **more)
        made["allowed_mentions"] = asked.body.get("allowed_mentions")
        if nonce:
            self.nonces[nonce] = made
        return Answer(200, made, self._limit_headers(channel))

    def edit(self, asked: Asked, channel: str, message: str) -> Answer:
        found = next((each for each in self.channels[channel].messages if each["id"] == message), None)
        if found is None:
            return unknown(10008, "Message")
        if found["author"]["id"] != BOT["id"]:
            return Answer(403, {"message": "Cannot edit a message by another user", "code": 50005})
        found["content"] = asked.body["content"]
        found["edited_timestamp"] = found["timestamp"]
        return form_problem(asked.body) or Answer(200, found)

    def delete(self, asked: Asked, channel: str, message: str) -> Answer:
        kept = [each for each in self.channels[channel].messages if each["id"] != message]
        if len(kept) == len(self.channels[channel].messages):
            return unknown(10008, "Message")
        self.channels[channel].messages = kept
        return Answer(204)

    def react(self, asked: Asked, channel: str, message: str, emoji: str) -> Answer:
        if refused := self._refused("react", channel):
            return refused
        found = next((each for each in self.channels[channel].messages if each["id"] == message), None)
        if found is None:
            return unknown(10008, "Message")
        if emoji.isascii() and ":" not in emoji:
            return Answer(400, {"message": "Unknown Emoji", "code": 10014})
        found["reactions"] = [{"emoji": {"id": None, "name": emoji}, "count": 1, "me": True}]
        return Answer(204)

    def create_thread(self, asked: Asked, channel: str) -> Answer:
        if self.channels[channel].type != 15:
            return Answer(400, {"message": "Cannot execute action on this channel type", "code": 50024})
        thread = Channel(str(next(self._ids)), GARDEN, asked.body["name"], type=11, parent=channel)
        self.channels[thread.id] = thread
        made = self.write(thread.id, BOT, asked.body["message"]["content"])
        made["allowed_mentions"] = asked.body["message"].get("allowed_mentions")
        return Answer(201, {**thread.as_json(), "message": made})

    def search(self, asked: Asked, guild: str) -> Answer:
        if not self.searchable:
            return Answer(403, {"message": "Bots cannot use this endpoint", "code": 20001})
        if not self.indexed:
            body = {"message": "Index not yet available.", "code": 110000, "documents_indexed": 0}
            return Answer(202, {**body, "retry_after": 2})
        found = [
            each
            for channel in self._of(guild)
            for each in channel.messages
            if ("view", channel.id) not in self.denied and _matches(asked, each)
        ]
        found.sort(key=lambda each: -int(each["id"]))
        start, limit = int(asked.one("offset", "0")), int(asked.one("limit", "25"))
        page = [[self._seen(each)] for each in found[start : start + limit]]
        return Answer(200, {"total_results": len(found), "messages": page})

    def _of(self, guild: str) -> list[Channel]:
        return [each for each in self.channels.values() if each.guild == guild]

    def _refused(self, permission: str, channel: str) -> Answer | None:
        if channel not in self.channels:
            return unknown(10003, "Channel")
        if (permission, channel) not in self.denied:
            return None
        code, said = (50001, "Missing Access") if permission == "view" else (50013, "Missing Permissions")
        return Answer(403, {"message": said, "code": code})

    def _limited(self, channel: str) -> Answer | None:
        left = self.remaining.get(channel)
        if left is None or left > 0:
            return None
        self.remaining[channel] = 1  # a new window
        body = {"message": "You are being rate limited.", "retry_after": 0.05, "global": False}
        return Answer(429, body, {"X-RateLimit-Scope": "user", "Retry-After": "1"})

    def _limit_headers(self, channel: str) -> dict[str, str]:
        if channel not in self.remaining:
            return {}
        self.remaining[channel] -= 1
        left = str(self.remaining[channel])
        return {
            "X-RateLimit-Limit": "5",
            "X-RateLimit-Remaining": left,
            "X-RateLimit-Reset-After": "0.05",
            "X-RateLimit-Bucket": "abcd1234",
        }

    def _seen(self, message: dict[str, Any]) -> dict[str, Any]:
        """Without the Message Content Intent, the content of others is empty."""
        mentioned = any(user["id"] == BOT["id"] for user in message["mentions"])
        if self.flags & CONTENT or message["author"]["id"] == BOT["id"] or mentioned:
            return message
        return {**message, "content": "", "embeds": [], "attachments": [], "components": []}


def stamp(identifier: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(((identifier >> 22) + EPOCH) / 1000, UTC).isoformat()


def form_problem(body: dict[str, Any]) -> Answer | None:
    text = body.get("content", "")
    if not text:
        return Answer(400, {"message": "Cannot send an empty message", "code": 50006})
    if len(text) > 2000:
        detail = {"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}
        errors = {"content": {"_errors": [detail]}}
        return Answer(400, {"message": "Invalid Form Body", "code": 50035, "errors": errors})
    return None


def _matches(asked: Asked, message: dict[str, Any]) -> bool:
    words = asked.one("content").casefold().split()
    return (
        all(word in message["content"].casefold() for word in words)
        and asked.one("author_id", message["author"]["id"]) == message["author"]["id"]
        and asked.one("channel_id", message["channel_id"]) == message["channel_id"]
        and int(asked.one("min_id", "0")) <= int(message["id"])
        and int(message["id"]) < int(asked.one("max_id", str(1 << 63)))
    )


ROUTES: tuple[tuple[str, str, Callable[..., Answer]], ...] = (
    ("GET", "/users/@me", Discord.me),
    ("GET", "/applications/@me", Discord.application),
    ("GET", "/users/@me/guilds", Discord.guilds),
    ("GET", r"/guilds/(\d+)/channels", Discord.guild_channels),
    ("GET", r"/guilds/(\d+)/threads/active", Discord.threads),
    ("GET", r"/guilds/(\d+)/roles", Discord.roles),
    ("GET", r"/guilds/(\d+)/members/search", Discord.find_members),
    ("GET", r"/guilds/(\d+)/members/(\d+)", Discord.member),
    ("GET", r"/guilds/(\d+)/messages/search", Discord.search),
    ("GET", r"/channels/(\d+)", Discord.channel),
    ("GET", r"/channels/(\d+)/messages", Discord.history),
    ("GET", r"/channels/(\d+)/messages/(\d+)", Discord.message),
    ("POST", r"/channels/(\d+)/messages", Discord.create),
    ("POST", r"/channels/(\d+)/threads", Discord.create_thread),
    ("PATCH", r"/channels/(\d+)/messages/(\d+)", Discord.edit),
    ("DELETE", r"/channels/(\d+)/messages/(\d+)", Discord.delete),
    ("PUT", r"/channels/(\d+)/messages/(\d+)/reactions/([^/]+)/@me", Discord.react),
)

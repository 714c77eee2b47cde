"""What the tools return: messages reduced to what a reader needs, and the text that a model reads. Decides
how replies, polls, embeds, reactions and notices ("joined the server") look, and the longest message and
result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict

from toolcrib.accounts.discord import display_name
from toolcrib.bundled.discord.markup import Names, local, readable_text
from toolcrib.serverkit.visible_text import one_line

MAX_TEXT = 4000
MAX_TOTAL = 40_000
"""Characters of one result; the rest is on the next page."""
MAX_EXCERPT = 120
MAX_EMBED = 400
_TEXT_KINDS = (0, 19, 20, 21, 23)
"""Messages that users and commands wrote; all others are notices of Discord."""
_NOTICES = {
    1: "added a member",
    2: "removed a member",
    4: "renamed the channel",
    6: "pinned a message",
    7: "joined the server",
    8: "boosted the server",
    18: "started a thread",
    24: "blocked by moderation",
}


_CHANNEL_LINE = 120


class DiscordAttachment(TypedDict):
    name: str
    size: Annotated[int, "In bytes"]
    type: str
    url: str


class _Authored(TypedDict):
    id: str
    author: str


class RepliedMessage(_Authored):
    text: Annotated[str, "Its beginning"]


class DiscordMessageCore(_Authored):
    author_id: str
    time: Annotated[str, "In the user's time zone"]
    text: str


class DiscordMessage(DiscordMessageCore, total=False):
    channel: str
    channel_id: str
    bot: bool
    edited: str
    reply_to: RepliedMessage
    attachments: list[DiscordAttachment]
    embeds: Annotated[list[str], "Link previews and cards, shortened"]
    reactions: Annotated[list[str], "Each with its count"]
    thread: Annotated[str, "The id of the thread that starts here"]
    pinned: bool


def to_message(raw: dict[str, Any], names: Names) -> DiscordMessage:
    """One message."""
    author = raw.get("author") or {}
    message: DiscordMessage = {
        "id": str(raw["id"]),
        "author": display_name(author),
        "author_id": str(author.get("id", "")),
        "time": _time(raw.get("timestamp")),
        "text": _cut(_text(raw, names), MAX_TEXT),
    }
    if author.get("bot"):
        message["bot"] = True
    if raw.get("edited_timestamp"):
        message["edited"] = _time(raw["edited_timestamp"])
    if reply := _replied(raw, names):
        message["reply_to"] = reply
    if attached := [_attachment(attachment) for attachment in _dicts(raw.get("attachments"))]:
        message["attachments"] = attached
    if embeds := [text for embed in _dicts(raw.get("embeds")) if (text := _embed(embed, names))]:
        message["embeds"] = embeds
    if reactions := [_reaction(reaction) for reaction in _dicts(raw.get("reactions"))]:
        message["reactions"] = reactions
    if isinstance(raw.get("thread"), dict):
        message["thread"] = str(raw["thread"].get("id"))
    if raw.get("pinned"):
        message["pinned"] = True
    return message


def hides_content(raw: dict[str, Any], own_id: str) -> bool:
    """Whether a message of someone else is empty in a way that only a missing intent explains."""
    parts = ("content", "attachments", "embeds", "sticker_items", "components", "poll", "message_snapshots")
    author = raw.get("author") or {}
    others = author.get("id") != own_id and not any(
        user.get("id") == own_id for user in _dicts(raw.get("mentions"))
    )
    return others and raw.get("type", 0) in (0, 19) and not any(raw.get(part) for part in parts)


def fitting(messages: Sequence[DiscordMessage]) -> int:
    """How many of the messages, from the first one, fit into one result; at least one."""
    total = 0
    for count, message in enumerate(messages):
        total += len(message["text"]) + 100 + sum(len(embed) for embed in message.get("embeds", []))
        if total > MAX_TOTAL and count:
            return count
    return len(messages)


def message_lines(message: DiscordMessage) -> Iterable[str]:
    """A message for a model. Further lines are indented, so that no text can pass for another message."""
    where = f" {message['channel']}" if "channel" in message else ""
    bot = " (bot)" if message.get("bot") else ""
    text = message["text"].replace("\n", "\n    ")
    yield f"[{message['time']}]{where} {message['author']}{bot}, id {message['id']}: {text}"
    if reply := message.get("reply_to"):
        yield f"    ↳ reply to {reply['author']}, id {reply['id']}: {one_line(reply['text'])}"
    for file in message.get("attachments", []):
        yield f"    attachment: {one_line(file['name'])}, {file['size']} bytes, {file['type']}, {file['url']}"
    for embed in message.get("embeds", []):
        yield f"    embed: {one_line(embed)}"
    if reactions := message.get("reactions"):
        yield f"    reactions: {', '.join(reactions)}"
    if thread := message.get("thread"):
        yield f"    starts the thread {thread}"


def _text(raw: dict[str, Any], names: Names) -> str:
    kind = raw.get("type", 0)
    text = readable_text(str(raw.get("content") or ""), _with_mentioned(raw, names))
    parts = [text] if text else []
    if kind not in _TEXT_KINDS:
        parts.insert(0, f"({_NOTICES.get(kind, 'a notice of Discord')})")
    for snapshot in _dicts(raw.get("message_snapshots")):
        forwarded = str((snapshot.get("message") or {}).get("content") or "")
        parts.append(f"(forwarded) {readable_text(forwarded, names)}")
    if poll := raw.get("poll"):
        parts.append(f"(poll) {_poll(poll)}")
    stickers = [str(sticker.get("name")) for sticker in _dicts(raw.get("sticker_items"))]
    if stickers:
        parts.append(f"(sticker: {', '.join(stickers)})")
    parts += _component_texts(raw.get("components"), names)
    return "\n".join(parts)


def _with_mentioned(raw: dict[str, Any], names: Names) -> Names:
    users = {str(user.get("id")): display_name(user) for user in _dicts(raw.get("mentions"))}
    return Names({**names.users, **users}, names.roles, names.channels)


def _replied(raw: dict[str, Any], names: Names) -> RepliedMessage | None:
    target = raw.get("referenced_message")
    reference = raw.get("message_reference") or {}
    if raw.get("type") != 19 or not reference.get("message_id"):
        return None
    if not isinstance(target, dict):
        return {"id": str(reference["message_id"]), "author": "unknown", "text": "(deleted)"}
    text = _cut(one_line(_text(target, names)), MAX_EXCERPT)
    return {"id": str(target["id"]), "author": display_name(target.get("author") or {}), "text": text}


def _attachment(raw: dict[str, Any]) -> DiscordAttachment:
    return {
        "name": str(raw.get("filename", "")),
        "size": int(raw.get("size") or 0),
        "type": str(raw.get("content_type") or "unknown type"),
        "url": str(raw.get("url", "")),
    }


def _embed(raw: dict[str, Any], names: Names) -> str:
    author, footer = raw.get("author") or {}, raw.get("footer") or {}
    fields = [f"{field.get('name')}: {field.get('value')}" for field in _dicts(raw.get("fields"))]
    parts = [author.get("name"), raw.get("title"), raw.get("description"), *fields, footer.get("text")]
    text = " | ".join(str(part) for part in parts if part)
    link = f" {raw['url']}" if raw.get("url") else ""
    return _cut(readable_text(text, names), MAX_EMBED) + link


def _reaction(raw: dict[str, Any]) -> str:
    emoji = raw.get("emoji") or {}
    name = f":{emoji.get('name')}:" if emoji.get("id") else str(emoji.get("name"))
    return f"{name} {raw.get('count', 1)}"


def _poll(poll: dict[str, Any]) -> str:
    answers = [
        str(((answer.get("poll_media") or {}).get("text")) or "") for answer in _dicts(poll.get("answers"))
    ]
    return f"{(poll.get('question') or {}).get('text', '')} [{' / '.join(answers)}]"


def _component_texts(components: Any, names: Names, depth: int = 0) -> list[str]:
    """The texts of a message that is made of components instead of content."""
    found: list[str] = []
    for component in _dicts(components) if depth < 4 else []:
        if component.get("type") == 10:
            found.append(readable_text(str(component.get("content", "")), names))
        found += _component_texts(component.get("components"), names, depth + 1)
    return found


def _time(text: Any) -> str:
    try:
        return local(datetime.fromisoformat(str(text)))
    except (ValueError, OverflowError, OSError):
        return str(text or "")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest} more characters)"


class ServerItem(TypedDict):
    id: str
    name: str


class ServerList(TypedDict):
    account: str
    servers: list[ServerItem]


class ChannelItem(TypedDict):
    id: str
    name: str
    kind: Annotated[str, "text, announcement, voice, stage, forum, media, thread or private thread"]
    inside: Annotated[str, "The category, or a thread's channel; empty if none"]
    topic: str


class ChannelList(TypedDict):
    server: str
    server_id: str
    channels: list[ChannelItem]
    next_offset: Annotated[int | None, "Pass it as `offset` for more"]


class MessagePage(TypedDict):
    channel: str
    channel_id: str
    messages: Annotated[list[DiscordMessage], "The oldest first"]
    older: Annotated[str | None, "Pass it as `before` for the messages before these"]
    newer: Annotated[str | None, "Pass it as `after` for the messages after these"]
    note: str


class FoundMessages(TypedDict):
    messages: Annotated[list[DiscordMessage], "The newest first"]
    looked_at: Annotated[str, "Where it looked, and how far back"]
    older: Annotated[str | None, "Pass it as `before` to search further back"]
    note: str


class SentMessage(TypedDict):
    channel: str
    channel_id: str
    ids: Annotated[list[str], "One for each message that was sent"]
    notified: Annotated[list[str], "Users and roles that are notified"]


class ChangedMessage(TypedDict):
    channel: str
    channel_id: str
    id: str
    done: str


def server_text(result: ServerList) -> str:
    if not result["servers"]:
        return "The bot is in no server. The user can invite it from Discord's developer portal."
    return "\n".join(f"{server['name']} (id {server['id']})" for server in result["servers"])


def channel_text(result: ChannelList) -> str:
    lines = [f"Channels of {result['server']}:"]
    for channel in result["channels"]:
        inside = f" in {channel['inside']}" if channel["inside"] else ""
        topic = " ".join(channel["topic"].split())[:_CHANNEL_LINE]
        lines.append(
            f"#{channel['name']} ({channel['kind']}{inside}, id {channel['id']})"
            + (f": {topic}" if topic else "")
        )
    if result["next_offset"] is not None:
        lines.append(f"More: offset={result['next_offset']}")
    return "\n".join(lines)


def page_text(result: MessagePage) -> str:
    lines = [f"{result['channel']} (id {result['channel_id']}), {len(result['messages'])} messages:"]
    lines += [line for message in result["messages"] for line in message_lines(message)]
    if result["older"]:
        lines.append(f"Older messages: before={result['older']}")
    if result["newer"]:
        lines.append(f"Newer messages: after={result['newer']}")
    return "\n".join([*lines, result["note"]]).rstrip()


def found_text(result: FoundMessages) -> str:
    lines = [f"{len(result['messages'])} messages. {result['looked_at']}"]
    lines += [line for message in result["messages"] for line in message_lines(message)]
    if result["older"]:
        lines.append(f"Further back: before={result['older']}")
    return "\n".join([*lines, result["note"]]).rstrip()


def sent_text(result: SentMessage) -> str:
    count = f"{len(result['ids'])} messages" if len(result["ids"]) > 1 else "Message"
    notified = f" Notified: {', '.join(result['notified'])}." if result["notified"] else ""
    return f"{count} sent to {result['channel']}, id {', '.join(result['ids'])}.{notified}"


def changed_text(result: ChangedMessage) -> str:
    return f"{result['done']} in {result['channel']}, message {result['id']}."

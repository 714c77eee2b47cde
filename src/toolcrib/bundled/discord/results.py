"""What the tools return, and the text that a model reads."""

from __future__ import annotations

from typing import Annotated, TypedDict

from toolcrib.bundled.discord.messages import DiscordMessage, message_lines

_CHANNEL_LINE = 120


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

"""Chats and their turns."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from toolcrib.chats.events import ChatEvent
from toolcrib.chats.wire import ChatTurn, TokenUsage, TurnEnding

ChatState = Literal["empty", "running", "asking", "done", "stopped", "failed", "interrupted"]


class _Chat(TypedDict):
    id: str
    title: str
    model: str
    created: str
    updated: str
    parent: str | None


class ChatInfo(_Chat):
    """A chat in a list."""

    entries: int
    state: ChatState


class ChatEntry(TypedDict):
    """A stored entry of a chat; the other keys depend on `kind`."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    kind: str


class ChatWhole(_Chat):
    """A chat with all of its entries."""

    entries: list[ChatEntry]
    state: ChatState


class ChatSummary(ChatInfo):
    """A chat in a list of the page."""

    questions: int
    """How many questions wait for an answer."""
    calls: int
    reason: str
    """Why it failed, in a few words."""
    on_top: bool
    """Pinned to the top of the list."""
    deleted: bool


class ChatHit(TypedDict):
    """A chat that was found."""

    chat: str
    title: str
    excerpt: str
    """The text around the first word; empty if the words are in the title."""
    time: str
    """When it was last used."""
    position: int | None
    """The entry with the words; null for the title."""


class ChatList(TypedDict):
    """Chats, the latest first."""

    chats: list[ChatSummary]
    more: bool


class CallStopped(TypedDict):
    """A call that was stopped; false when it was not running."""

    chat: str
    call: str
    stopped: bool


class TurnStarted(TypedDict):
    """A turn that goes on by itself."""

    chat: str
    turn: str


class TurnStopped(TypedDict):
    """A turn that was stopped; nothing of it is left running."""

    chat: str
    turn: str | None
    ending: TurnEnding | None


class ChatTools(TypedDict):
    """Which tools a chat always offers, and which never."""

    chat: str
    pinned: list[str]
    banned: list[str]


class ChatExport(TypedDict):
    """A chat as a file."""

    name: str
    mime: str
    text: str


class RunningTurn(TypedDict):
    """The latest turn as it is told: go on with what comes after `n`. Of one that is over, no events."""

    turn: str
    n: int
    running: bool
    events: list[ChatEvent]


class ChatView(TypedDict):
    """A chat as a page shows it."""

    chat: ChatSummary
    turns: list[ChatTurn]
    earlier: int
    """How many turns come before the first of these."""
    running: RunningTurn | None
    usage: TokenUsage
    cost: float | None
    calls: int
    pinned: list[str]
    banned: list[str]
    project: str

"""A chat as a page shows it: its turns, and what the latest one is doing."""

from __future__ import annotations

from typing_extensions import TypedDict

from toolcrib.control.answers.chat_events import RunningTurn
from toolcrib.control.answers.chats import ChatSummary, ChatTurn, TokenUsage


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

"""What waits for a person."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

WaitingKind = Literal["call", "sampling", "elicitation", "trust", "sign-in", "value", "changed"]


class WaitingItem(TypedDict):
    """One thing that waits: names to make a sentence of, and where to go."""

    kind: WaitingKind
    """`call`, `sampling` and `elicitation` are questions, which hold up work; the others can wait."""
    id: str | None
    """Of a question; `chat_reply` answers it when `durable` is false, `approval_answer` when it is true."""
    durable: bool
    server: str | None
    tool: str | None
    chat: str | None
    """The session that asks, where a chat does."""
    chat_title: str | None
    principal: str | None
    reason: str
    """The server's own reason; of a question, its text."""
    tools: list[str]
    """The tools that are held, of `changed`."""
    detail: dict[str, Any]
    """Of a question: the whole of it, as it is shown to the person."""
    since: str | None


class Waiting(TypedDict):
    """Everything that waits, what holds up work first, then the oldest first."""

    count: int
    items: list[WaitingItem]

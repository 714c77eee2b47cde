"""The JSON fields of a stored turn, as clients receive it: question, texts, calls, notes, usage, ways to end,
outcomes of calls.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

TurnEnding = Literal[
    "answered", "budget", "cut", "refused", "filtered", "unknown", "stopped", "failed", "interrupted"
]
CallOutcome = Literal[
    "ok",
    "tool_error",
    "invalid",
    "denied",
    "timeout",
    "cancelled",
    "unavailable",
    "failed",
    "running",
    "interrupted",
]
"""`interrupted`: the host was killed during the call, so it may or may not have had an effect."""


class TokenUsage(TypedDict):
    """Tokens, as the vendor counts them; `Usage` as JSON, as stored turns and their events have it."""

    input: int
    output: int
    cached: int
    requests: int
    written: NotRequired[int]
    """Of the input, what the vendor charges for writing to its cache."""


class PictureInfo(TypedDict):
    """A picture that can be fetched."""

    mime: str
    bytes: int


class PictureData(TypedDict):
    """A picture, as base64."""

    mime: str
    data: str


class FileInfo(TypedDict):
    """A text file that belongs to a question; `chat_file` has its text."""

    key: str
    name: str
    chars: int
    shown: int
    """How many of its characters the model was shown; it can read on."""


class FileText(TypedDict):
    """A text file that belongs to a question, whole."""

    name: str
    text: str


class ChatQuestion(TypedDict):
    """What the person said."""

    position: int
    text: str
    images: list[PictureData]
    files: NotRequired[list[FileInfo]]


class QuestionVersion(TypedDict):
    """A question that was asked again, or the one that replaced it."""

    position: int
    until: int | None
    """Entries of the chat before it was replaced, to look at this version; null for the current one."""


class OfferedTool(TypedDict):
    """A tool that the model could call, and why."""

    tool: str
    server: str | None
    name: str
    why: str
    tokens: int


class TextItem(TypedDict):
    """What the model said."""

    kind: Literal["text"]
    position: int
    text: str


class ThinkingItem(TypedDict):
    """The reasoning that an interrupted answer had shown."""

    kind: Literal["thinking"]
    position: int
    text: str


class CallItem(TypedDict):
    """A tool that was called."""

    kind: Literal["call"]
    position: int
    id: str
    tool: str
    server: str | None
    name: str
    arguments: dict[str, Any]
    outcome: CallOutcome
    ms: float
    text: str
    """The beginning of what it answered."""
    chars: int
    """How long all of it is that the model was shown."""
    whole: int | None
    """How long it is in truth, when the model was shown a part."""
    images: list[PictureInfo]
    by_hand: bool
    """Run again by the person; the model does not know of it."""
    rule: str
    """The rule of the gate that decided it: its id, or the name of one of ours; empty where none did."""


class NoteItem(TypedDict):
    """Something that happened to the turn; of the notes of a `TurnNote`, those that are stored."""

    kind: Literal["note"]
    position: int
    note: Literal["stopped", "failed", "shortened", "notice", "continued"]
    text: str
    time: str | None


TurnItem = TextItem | ThinkingItem | CallItem | NoteItem


class ChatTurn(TypedDict):
    """A question and everything that came of it."""

    position: int
    until: int
    """Entries of the chat up to its end: a fork there has so many."""
    time: str | None
    question: ChatQuestion | None
    offered: list[OfferedTool]
    of: int
    """How many tools there are."""
    note: str
    items: list[TurnItem]
    model: str
    ending: TurnEnding | None
    usage: TokenUsage | None
    cost: float | None
    versions: NotRequired[list[QuestionVersion]]
    """All versions of a question that was asked again, in their order."""


class CallWhole(TypedDict):
    """Everything that a call answered."""

    id: str
    tool: str
    arguments: dict[str, Any]
    outcome: CallOutcome
    ms: float
    text: str
    whole: str | None
    """All of it, when the model was shown a part."""
    images: list[PictureData]

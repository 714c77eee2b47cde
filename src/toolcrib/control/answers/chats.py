"""What the operations on chats answer: lists of chats, a chat turn by turn, and what a running turn tells."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

ChatState = Literal["empty", "running", "asking", "done", "stopped", "failed", "interrupted"]
TurnEnding = Literal["answered", "budget", "cut", "refused", "filtered", "stopped", "failed", "interrupted"]
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
    """Tokens, as the vendor counts them."""

    input: int
    output: int
    cached: int
    requests: int
    written: NotRequired[int]
    """Of the input, what the vendor charges for writing to its cache."""


class ChatSummary(TypedDict):
    """A chat in a list."""

    id: str
    title: str
    model: str
    created: str
    updated: str
    parent: str | None
    entries: int
    state: ChatState
    questions: int
    """How many questions wait for an answer."""
    calls: int
    reason: str
    """Why it failed, in a few words."""
    excerpt: str | None
    """The place that was found, when words were looked for."""
    deleted: bool


class ChatList(TypedDict):
    """Chats, the latest first."""

    chats: list[ChatSummary]
    more: bool


class PictureInfo(TypedDict):
    """A picture that can be fetched."""

    mime: str
    bytes: int


class PictureData(TypedDict):
    """A picture, as base64."""

    mime: str
    data: str


class ChatQuestion(TypedDict):
    """What the person said."""

    position: int
    text: str
    images: list[PictureData]


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
    """Something that happened to the turn."""

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


class CallStopped(TypedDict):
    """A call that was stopped; false when it was not running."""

    chat: str
    call: str
    stopped: bool


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


class CommandPart(TypedDict):
    """One command of a line, and what is not known of it; empty when it only reads."""

    text: str
    doubt: str


class DifferenceLine(TypedDict):
    """A line of a difference."""

    kind: Literal["same", "added", "removed", "gap"]
    number: int | None
    text: str


class CallExhibit(TypedDict):
    """What the person is shown of a call."""

    kind: Literal["command", "code", "edit", "arguments"]
    command: NotRequired[str]
    folder: NotRequired[str]
    limits: NotRequired[list[str]]
    """What holds a command, and for how long it may run."""
    parts: NotRequired[list[CommandPart]]
    unread: NotRequired[str]
    text: NotRequired[str]
    path: NotRequired[str]
    new: NotRequired[bool]
    lines: NotRequired[list[DifferenceLine]]
    changed: NotRequired[int]


class RuleWords(TypedDict):
    """The rule that a yes would write, and where it holds."""

    rule: str
    place: str


class CallQuestion(TypedDict):
    """May this call run?"""

    id: str
    principal: str
    session: str | None
    project: str
    tool: str
    server: str | None
    arguments: dict[str, Any]
    call: str
    reasons: list[str]
    rule: dict[str, Any]
    scopes: list[Literal["once", "chat", "project", "always"]]
    flow: bool
    lifts: NotRequired[list[Literal["tool", "turn", "session"]]]
    """How far content from outside may be let act, the narrowest first."""
    session_mode: bool
    title: str
    why: str
    """The reasons, in a sentence."""
    exhibit: CallExhibit
    definition: str
    words: dict[str, RuleWords]
    tool_words: NotRequired[dict[str, RuleWords]]
    """The same for every call of the tool, whatever its arguments, where that is offered."""

"""A turn of a chat as data: a question and everything that came of it (texts, calls, notes, open questions),
while it runs and when it is read back.

`reducer.apply` is the only code that changes a turn by an event; `replay` makes the events of stored entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.chats.events import (
    AnsweredEvent,
    BusyEvent,
    CallAskingEvent,
    ProgressEvent,
    ServerAskingEvent,
    TurnError,
)
from toolcrib.chats.result_text import CutResult
from toolcrib.chats.wire import CallOutcome, FileInfo, OfferedTool, PictureData, TokenUsage, TurnEnding

AskingEvent = CallAskingEvent | ServerAskingEvent
NoteKind = Literal["stopped", "failed", "shortened", "notice", "continued", "again"]
BY_HAND = "hand-"
"""Begins the id of each call that the user makes: it belongs to the turn before it and only adds itself."""


@dataclass(kw_only=True)
class TurnText:
    """Text of the model, or its thinking."""

    kind: Literal["text", "thinking"]
    parts: list[str]
    """As it was received: in a turn from the store, one for each part of the message."""
    round: int = 0
    partial: bool = True
    """The model has not finished the message that this belongs to."""
    position: int | None = None

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.parts)


@dataclass(kw_only=True)
class TurnCall:
    """A call of a tool."""

    kind: Literal["call"] = "call"
    id: str
    tool: str
    server: str | None
    name: str
    arguments: Mapping[str, Any]
    by_hand: bool = False
    """Made by the user; the model does not know of it."""
    outcome: CallOutcome | Literal["waiting"] = "running"
    ms: float = 0.0
    text: str = ""
    """The result: its beginning in a running turn, all that the model was shown in one from the store."""
    pictures: int = 0
    rule: str = ""
    begun: bool = False
    has_result: bool = False
    progress: ProgressEvent | None = None
    """The latest; of a call that was stopped, the last one before that."""
    asking: AskingEvent | None = None
    """The open question about it."""
    answered: AnsweredEvent | None = None
    """The user's answer to the question whether it may run."""
    cut: CutResult | None = None
    images: list[PictureData] = field(default_factory=list)
    position: int | None = None

    @property
    def unfinished(self) -> bool:
        """Waiting or running."""
        return self.outcome in ("waiting", "running")


@dataclass(kw_only=True)
class TurnNote:
    """Something that happened to the turn."""

    kind: Literal["note"] = "note"
    note: NoteKind
    text: str = ""
    time: str | None = None
    position: int | None = None


@dataclass(kw_only=True)
class TurnQuestion:
    """An open question that belongs to no call."""

    kind: Literal["question"] = "question"
    asking: AskingEvent
    position: int | None = None


TurnPart = TurnText | TurnCall | TurnNote | TurnQuestion


@dataclass(frozen=True, kw_only=True)
class BeforeContinued:
    """What a turn was before it was continued, or before a call by hand."""

    ending: TurnEnding | None = None
    usage: TokenUsage | None = None
    cost: float | None = None
    model: str = ""
    error: TurnError | None = None
    items: int = 0
    """How many items it had."""


@dataclass(kw_only=True)
class Turn:
    """A question and everything that came of it."""

    text: str | None = None
    """The question; None when the turn has none, such as a call by hand in an empty chat."""
    images: list[PictureData] = field(default_factory=list)
    files: list[FileInfo] = field(default_factory=list)
    time: str | None = None
    offered: list[OfferedTool] = field(default_factory=list)
    of: int = 0
    """How many tools there are."""
    note: str = ""
    """About the offered tools."""
    items: list[TurnPart] = field(default_factory=list)
    model: str = ""
    running: bool = True
    busy: BusyEvent | None = None
    round: int = 0
    ending: TurnEnding | None = None
    usage: TokenUsage | None = None
    cost: float | None = None
    error: TurnError | None = None
    before: BeforeContinued = field(default_factory=BeforeContinued)
    position: int = 0
    until: int = 0
    """Entries of the chat up to its end."""
    endings: dict[int, TurnEnding] = field(default_factory=dict)
    """How each of its parts ended, by the position of the entry that says so."""

    def call(self, wanted: str) -> TurnCall | None:
        """The latest call with this id."""
        calls = (item for item in reversed(self.items) if isinstance(item, TurnCall))
        return next((call for call in calls if call.id == wanted), None)

    @property
    def calls(self) -> list[TurnCall]:
        """In their order."""
        return [item for item in self.items if isinstance(item, TurnCall)]

    @property
    def open_questions(self) -> list[AskingEvent]:
        """Those that wait for an answer."""
        asked = [item.asking for item in self.items if isinstance(item, TurnCall | TurnQuestion)]
        return [asking for asking in asked if asking is not None]

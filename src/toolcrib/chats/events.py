"""The events of a running turn as JSON, as clients receive them: the fields of each kind. `reducer.apply`
makes a turn of them.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from toolcrib.chats.call_question import CallQuestion
from toolcrib.chats.wire import CallOutcome, FileInfo, OfferedTool, PictureData, TokenUsage, TurnEnding
from toolcrib.schema.failures import FailureText


class QuestionEvent(TypedDict):
    """What was asked; the first event. A call that the person runs again has no words."""

    event: Literal["question"]
    text: str | None
    images: list[PictureData]
    """Empty where it is told live: `chat_view` has them."""
    pictures: int
    files: NotRequired[list[FileInfo]]
    replaces: NotRequired[int]
    """The position of the question that it replaces, with all that followed."""
    time: str


class BeganEvent(TypedDict):
    """The turn is under way."""

    event: Literal["began"]
    chat: str
    model: str


class OfferedEvent(TypedDict):
    """From now on the model can call these too."""

    event: Literal["offered"]
    tools: list[OfferedTool]
    note: str
    of: int


class WordsEvent(TypedDict):
    """More words of the answer, or of what the model thinks."""

    event: Literal["text", "thinking"]
    text: str


class AgainEvent(TypedDict):
    """The answer was cut off and is requested again: the text of this round does not count."""

    event: Literal["again"]
    reason: str


class NoticeEvent(TypedDict):
    """Something that the user should know and that does not end the turn."""

    event: Literal["notice"]
    text: str


class BusyEvent(TypedDict):
    """The model is busy and is asked again after so many seconds."""

    event: Literal["busy"]
    reason: str
    seconds: float


class CallEvent(TypedDict):
    """A tool is being called; `queued`, it waits for room or for a person's word, and `call` follows."""

    event: Literal["call", "queued"]
    id: str
    tool: str
    server: str | None
    name: str
    arguments: dict[str, Any]


class ProgressEvent(TypedDict):
    """A tool tells how far it is."""

    event: Literal["progress"]
    id: str
    progress: float
    total: float | None
    message: str | None


class ResultEvent(TypedDict):
    """A tool answered, or did not."""

    event: Literal["result"]
    id: str
    tool: str
    server: str | None
    name: str
    arguments: dict[str, Any]
    outcome: CallOutcome
    ms: float
    text: str
    images: int
    rule: str
    """The rule of the gate that decided it: its id, or the name of one of ours; empty where none did."""


class CallAskingEvent(TypedDict):
    """A person has to say whether a call may run."""

    event: Literal["asking"]
    about: Literal["call"]
    id: str
    server: str
    text: str
    call: str | None
    detail: CallQuestion


class ServerAskingEvent(TypedDict):
    """A server asks the person or the model for something."""

    event: Literal["asking"]
    about: Literal["sampling", "elicitation"]
    id: str
    server: str
    text: str
    call: str | None
    detail: dict[str, Any]


class AnsweredEvent(TypedDict):
    """A question was answered."""

    event: Literal["answered"]
    id: str
    action: str
    scope: str
    message: str


class CompactedEvent(TypedDict):
    """The talk grew too long, and its older part was shortened."""

    event: Literal["compacted"]
    before: int
    after: int


class RoundEvent(TypedDict):
    """The model has spoken once; `text` is all that it said."""

    event: Literal["round"]
    round: int
    usage: TokenUsage
    text: str


class TurnError(FailureText):
    """Why a turn failed."""


class EndedEvent(TypedDict):
    """The end; the last event."""

    event: Literal["ended"]
    chat: str
    model: str
    answer: str
    ending: TurnEnding
    rounds: int
    calls: int
    usage: TokenUsage
    cost: float | None
    error: TurnError | None


ChatEvent = (
    QuestionEvent
    | BeganEvent
    | OfferedEvent
    | WordsEvent
    | AgainEvent
    | NoticeEvent
    | BusyEvent
    | CallEvent
    | ProgressEvent
    | ResultEvent
    | CallAskingEvent
    | ServerAskingEvent
    | AnsweredEvent
    | CompactedEvent
    | RoundEvent
    | EndedEvent
)

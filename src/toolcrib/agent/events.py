"""Events of a turn (text, calls, questions, end), and the ways a turn can end; plain data, so that they can
cross a socket. `chats/events.py` has them as clients receive them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from toolcrib.agent.ports import AgentQuestion
from toolcrib.errors import ToolcribError
from toolcrib.schema.messages import Usage

Ending = Literal["answered", "budget", "cut", "refused", "filtered", "unknown", "stopped", "failed"]
"""How a turn ends: answered, by the budget, cut by the output limit, refused by the model, filtered by the
vendor, for a reason of the vendor that is not known here, stopped by the user, or failed."""


@dataclass(frozen=True, kw_only=True)
class TurnBegan:
    kind: ClassVar[str] = "began"
    chat: str
    model: str


@dataclass(frozen=True, kw_only=True)
class ToolsOffered:
    """The model can call these tools from now on."""

    kind: ClassVar[str] = "offered"
    tools: tuple[Mapping[str, Any], ...]
    """`{"name", "why"}` each."""
    note: str = ""


@dataclass(frozen=True)
class Speaking:
    """More text of the answer."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Thinking:
    """More of the model's reasoning, if shown."""

    kind: ClassVar[str] = "thinking"
    text: str


@dataclass(frozen=True)
class AskedAgain:
    """The answer ended early and the model was asked again: this round's text so far is void."""

    kind: ClassVar[str] = "again"
    reason: str


@dataclass(frozen=True)
class Notice:
    """A notice for the user that does not end the turn."""

    kind: ClassVar[str] = "notice"
    text: str


@dataclass(frozen=True, kw_only=True)
class _CallEvent:
    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CallQueued(_CallEvent):
    """A call waits: too many are running, or the user is asked first.

    `CallBegan` follows when it runs, possibly a second time.
    """

    kind: ClassVar[str] = "queued"


@dataclass(frozen=True, kw_only=True)
class CallBegan(_CallEvent):
    kind: ClassVar[str] = "call"


@dataclass(frozen=True, kw_only=True)
class CallMoved:
    kind: ClassVar[str] = "progress"
    id: str
    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True, kw_only=True)
class CallEnded(_CallEvent):
    """A call ended, with or without an answer."""

    kind: ClassVar[str] = "result"
    outcome: str
    ms: float
    text: str
    """The beginning of its text."""
    images: int = 0
    rule: str = ""
    """The approval rule that decided, if any."""


@dataclass(frozen=True, kw_only=True)
class Asking(AgentQuestion):
    """The user has to answer a question; surfaces reply with its id."""

    kind: ClassVar[str] = "asking"


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A server asked the model during a call; counted with the turn."""

    kind: ClassVar[str] = "sampled"
    server: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """Older parts of the chat were shortened."""

    kind: ClassVar[str] = "compacted"
    before: int
    after: int
    """Estimated tokens."""


@dataclass(frozen=True, kw_only=True)
class RoundEnded:
    """The model has answered once."""

    kind: ClassVar[str] = "round"
    round: int
    usage: Usage
    text: str = ""
    """All its text, for late subscribers."""


@dataclass(frozen=True, kw_only=True)
class TurnEnded:
    """The answer and its usage. Always the last event, unless the turn is cancelled."""

    kind: ClassVar[str] = "ended"
    chat: str
    model: str
    answer: str
    ending: Ending
    rounds: int
    calls: tuple[CallEnded, ...]
    usage: Usage
    cost: float | None
    """US dollars, if the price is known."""
    failure: ToolcribError | None = None


AgentEvent = (
    TurnBegan
    | ToolsOffered
    | Speaking
    | Thinking
    | AskedAgain
    | Notice
    | CallQueued
    | CallBegan
    | CallMoved
    | CallEnded
    | Asking
    | Sampled
    | Compacted
    | RoundEnded
    | TurnEnded
)


def event_json(event: AgentEvent) -> dict[str, Any]:
    if isinstance(event, TurnEnded):
        error = None if event.failure is None else event.failure.as_json()
        shown = asdict(replace(event, failure=None))
        del shown["failure"]
        return {"event": event.kind, **shown, "error": error}
    return {"event": event.kind, **asdict(event)}

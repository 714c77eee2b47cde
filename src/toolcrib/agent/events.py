"""What a surface hears while a question is being answered; plain data, so that it can cross a socket."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

from toolcrib.errors import ToolcribError
from toolcrib.schema.messages import Usage

Ending = Literal["answered", "budget", "cut", "refused", "filtered", "stopped", "failed"]
"""How a turn ends: with an answer, with one because the budget was spent, with one that the output limit cut,
with a refusal of the model, by a filter of its vendor, by the person, or by an error."""


@dataclass(frozen=True, kw_only=True)
class TurnBegan:
    """A question was taken."""

    kind: ClassVar[str] = "began"
    chat: str
    model: str


@dataclass(frozen=True, kw_only=True)
class ToolsOffered:
    """From now on the model can call these too, and why."""

    kind: ClassVar[str] = "offered"
    tools: tuple[Mapping[str, Any], ...]
    """`{"name", "why"}` each."""
    note: str = ""


@dataclass(frozen=True)
class Speaking:
    """More words of the answer."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Thinking:
    """More words of what the model thinks, where it shows them."""

    kind: ClassVar[str] = "thinking"
    text: str


@dataclass(frozen=True)
class AskedAgain:
    """The answer broke off and the model was asked once more: what it said in this round does not count."""

    kind: ClassVar[str] = "again"
    reason: str


@dataclass(frozen=True)
class Notice:
    """Something that the user should know and that does not end the turn."""

    kind: ClassVar[str] = "notice"
    text: str


@dataclass(frozen=True, kw_only=True)
class CallQueued:
    """A tool waits before it is called: too many are running already, or a person is asked first.

    `CallBegan` follows when it runs, also a second time where it came before.
    """

    kind: ClassVar[str] = "queued"
    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CallBegan:
    """A tool is being called."""

    kind: ClassVar[str] = "call"
    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CallMoved:
    """A tool tells how far it is."""

    kind: ClassVar[str] = "progress"
    id: str
    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True, kw_only=True)
class CallEnded:
    """A tool answered, or did not."""

    kind: ClassVar[str] = "result"
    id: str
    tool: str
    arguments: Mapping[str, Any]
    outcome: str
    ms: float
    text: str
    """The beginning of what it said."""
    images: int = 0
    rule: str = ""
    """The rule of the gate that decided it, where one did."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Somebody has to decide before it goes on; the surface answers by the question's id."""

    kind: ClassVar[str] = "asking"
    id: str
    about: str
    """call, sampling or elicitation."""
    server: str
    text: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    chat: str = ""


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A server asked the model something while it worked; counted with the turn."""

    kind: ClassVar[str] = "sampled"
    server: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Compacted:
    """The talk grew too long, and its older part was shortened."""

    kind: ClassVar[str] = "compacted"
    before: int
    after: int
    """Tokens, about."""


@dataclass(frozen=True, kw_only=True)
class RoundEnded:
    """The model has spoken once."""

    kind: ClassVar[str] = "round"
    round: int
    usage: Usage
    text: str = ""
    """All that it said, for those who missed the words."""


@dataclass(frozen=True, kw_only=True)
class TurnEnded:
    """The end: the answer and what it took. The last event, always; who cancels a turn hears no more."""

    kind: ClassVar[str] = "ended"
    chat: str
    model: str
    answer: str
    ending: Ending
    rounds: int
    calls: tuple[CallEnded, ...]
    usage: Usage
    cost: float | None
    """US dollars, where the price is known."""
    failure: ToolcribError | None = None
    """Why it failed."""


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
    """An event as JSON; `event` says which."""
    if isinstance(event, TurnEnded):
        error = None if event.failure is None else event.failure.as_json()
        shown = asdict(replace(event, failure=None))
        del shown["failure"]
        return {"event": event.kind, **shown, "error": error}
    return {"event": event.kind, **asdict(event)}

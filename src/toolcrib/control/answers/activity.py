"""What is said about calls: those that were, those that run, and how one went."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from toolcrib.control.answers.calls import Outcome
from toolcrib.control.answers.chats import CallExhibit
from toolcrib.control.answers.policy import Effect, Mode, PolicyRule, Scope

WhoKind = Literal["chat", "page", "gateway", "workflow", "python", "terminal", "other"]


class Who(TypedDict):
    """On whose behalf a call was made."""

    kind: WhoKind
    name: str
    """Which client, workflow or program; empty where there is only one."""
    session: str | None
    """The chat, where a chat asked."""


class GateNote(TypedDict):
    """What the gate said of a call."""

    rule: str | None
    """The name of a built-in rule, the id of one of the person's, `asked` where the person said yes."""
    number: int | None
    """Of the person's rule, where it is there still."""
    reason: str
    mode: NotRequired[Mode]
    decision: NotRequired[Effect]
    """Before anybody was asked."""
    asked: NotRequired[list[str]]
    """Why a person was asked."""
    allowed: NotRequired[bool]
    """What the person said."""
    scope: NotRequired[Scope]
    message: NotRequired[str]
    waited_ms: NotRequired[float]
    """For the person's answer."""
    judged_ms: NotRequired[float]
    """What the gate took to read the call and the rules."""


class Call(TypedDict):
    """A call of the record."""

    place: str
    """Where it stands in the record; `before` and `after` take one."""
    call_id: str
    time: str
    tool: str
    server: str | None
    name: str
    """The tool's own name, without that of its server."""
    who: Who
    outcome: Outcome
    ms: float
    bytes: int
    arguments: str
    error: str | None
    gate: GateNote | None
    """Null where the gate stood open: nobody is asked about such calls."""


class CallCounts(TypedDict):
    """How many calls there are, and how they went."""

    total: int
    asked: int
    denied: int
    failed: int
    days: int


class Calls(TypedDict):
    """Calls, the newest first."""

    calls: list[Call]
    matching: int | None
    """How many there are of those that were looked for, where that was asked."""
    more: bool


class RunningCall(TypedDict):
    """A call that has not ended."""

    call_id: str
    time: str
    tool: str
    server: str | None
    name: str
    who: Who
    state: Literal["running", "asking", "waiting"]
    """`waiting`: it has not started, because another question of its session is answered first."""
    began: str | None
    """When its tool was started; null before."""
    question: str | None
    """The id of the question that it waits for."""
    arguments: str
    gate: GateNote | None
    """Null while it waits, and where the gate stood open."""


class CallPath(TypedDict):
    """How one call went."""

    call: Call
    chat: str | None
    """The title of the chat that asked."""
    exhibit: CallExhibit
    rules: list[PolicyRule]
    """The person's rules that speak of the same tool."""
    server_state: str | None


class ModelRequest(TypedDict):
    """What one turn of a chat took."""

    chat: str
    title: str
    time: str
    model: str
    ending: str
    rounds: int
    input: int
    output: int
    cached: int
    cost: float | None


class ModelRequests(TypedDict):
    """Turns, the latest first."""

    turns: list[ModelRequest]
    more: bool
    input: int
    output: int
    cost: float | None
    """These three of all turns of so many days."""
    days: int

"""Tools as the page lists them: where each stands, whether it can be called, and what the gate would do."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from toolcrib.control.answers.calls import CallProgress, CallResult
from toolcrib.control.answers.chat_events import ServerAskingEvent
from toolcrib.control.answers.chats import CallQuestion
from toolcrib.control.answers.policy import Effect
from toolcrib.control.answers.tools import Origin

Standing = Literal["ready", "off", "held", "away"]
"""`away`: its server is not up."""


class ShelfTool(TypedDict):
    """A tool in a list."""

    name: str
    server: str | None
    tool: str
    """Its own name."""
    title: str
    description: str
    tokens: int
    standing: Standing
    why_not: str
    """Why it cannot be called, in a few words; empty when it can."""
    always_on: bool
    reads: bool
    """Says of itself that it only reads."""
    gate: Effect
    """What the gate would say when a model called it without arguments; those may change it."""


class RankedTool(ShelfTool):
    """A tool in its place for a question."""

    fit: float
    """How well it fits, from 0 to 1; the three parts add up to it."""
    by_words: float
    by_meaning: float
    by_name: float
    """Because it was named in the question."""
    words: list[str]
    """Words of the question that it has."""
    used: int
    """Calls since the host began."""
    offered: bool


class Ranking(TypedDict):
    """What a model would be offered for a question, and what comes after that."""

    query: str
    tools: list[RankedTool]
    """The best first; those always on after the last that is offered for its fit."""
    k: int
    always_on: int
    all_offered: bool
    """There are so few tools that a model is offered all of them."""
    offer_all: int
    offered: int
    offered_tokens: int
    all_tokens: int
    ready: int
    known: int
    servers: int
    ranked: int
    """How many tools were compared with the question."""
    ms: float
    note: str


class NearWord(TypedDict):
    """A word that may have been meant, and where it stands."""

    word: str
    tools: int
    servers: list[str]


class ToolsFound(TypedDict):
    """Tools by name."""

    tools: list[ShelfTool]
    near: NearWord | None
    """What may have been meant, when nothing was found."""
    ready: int
    known: int
    servers: int


class ToolPart(TypedDict):
    """A part of a definition before and after a change, as JSON."""

    part: str
    before: str
    after: str


class ToolDetails(ShelfTool):
    """All that is known of a tool."""

    origin: Origin
    inputSchema: dict[str, Any]
    outputSchema: dict[str, Any] | None
    annotations: dict[str, Any]
    definition: str
    """The definition as the server sent it, as JSON."""
    hash: str
    first_seen: str | None
    last_changed: str | None
    changes: list[str]
    """The parts that last changed."""
    differences: list[ToolPart]
    """Of a held tool, to the definition that was approved."""
    calls: int
    """On record."""
    reasons: list[str]
    """Why the gate would say so."""
    rule: str | None
    can_switch: bool
    """Whether it can be switched on and off: tools of servers in the config file can."""


class ToolSet(TypedDict):
    """A tool as it is offered from now on."""

    name: str
    enabled: bool
    always_on: bool
    timeout: float | None
    """Seconds that a call of it may take, where that is another time than its server's."""


class TryAsking(TypedDict):
    """A person has to say whether the call may run; `chat_reply` answers it."""

    asking: CallQuestion


class TryServerAsking(TypedDict):
    """The tool's server asks the user, or wants to ask the model; `chat_reply` answers it."""

    server_asking: ServerAskingEvent


class TryAnswered(TypedDict):
    """A question was answered."""

    answered: str
    allowed: bool


TryEvent = CallProgress | TryAsking | TryServerAsking | TryAnswered


class Tried(TypedDict):
    """What a tool answered that was tried."""

    tool: str
    outcome: Literal["ok", "tool_error"]
    ms: float
    result: CallResult

"""Language models that can be asked, and answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from toolcrib.control.answers.calls import Outcome
from toolcrib.control.answers.chats import ChatState


class VendorTrial(TypedDict):
    """How a vendor answered when it was last tried, since the host began."""

    at: str
    model: str
    ms: float | None
    """None where it did not answer."""
    refused: bool
    """It was the key that was not taken."""
    reason: str


class Vendor(TypedDict):
    """A vendor as far as it can be asked from here; `key` is a name, never a value."""

    vendor: str
    title: str
    address: str
    keys: list[str]
    key: str | None
    place: Literal["environment", "secret"] | None
    ready: bool
    models: list[str]
    """Those that are known without asking."""
    tried: VendorTrial | None


class Models(TypedDict):
    """What there is to ask; `model` is asked when nobody says otherwise."""

    model: str | None
    vendors: list[Vendor]


class ModelTried(TypedDict):
    """A model that answered."""

    model: str
    answer: str
    ms: float


class AnswerCall(TypedDict):
    """A call that an answer took."""

    tool: str
    arguments: dict[str, Any]
    outcome: Outcome
    ms: float


class AnswerUsage(TypedDict):
    """Tokens as the vendor counts them; the cost in dollars, None where the price is not known."""

    input: int
    output: int
    cached: int
    requests: int
    written: int
    cost: float | None


class Answered(TypedDict):
    """An answer and what it took."""

    answer: str
    rounds: int
    calls: list[AnswerCall]
    usage: AnswerUsage
    ending: Literal["answered", "budget", "cut", "refused", "filtered", "stopped", "failed"]
    model: str
    chat: str


class AnswerEvent(TypedDict):
    """Something of a turn on its way; `event` says what."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    event: str


class ChatInfo(TypedDict):
    """A chat in a list."""

    id: str
    title: str
    model: str
    created: str
    updated: str
    parent: str | None
    entries: int
    state: ChatState


class ChatEntry(TypedDict):
    """An entry of a chat as it is stored; `kind` says what the rest means."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    kind: str


class ChatWhole(TypedDict):
    """A chat with all of its entries."""

    id: str
    title: str
    model: str
    created: str
    updated: str
    parent: str | None
    entries: list[ChatEntry]
    state: ChatState


class ChatClosed(TypedDict):
    """A chat whose processes ended."""

    chat: str


class ReplyTaken(TypedDict):
    """A question that was answered."""

    id: str

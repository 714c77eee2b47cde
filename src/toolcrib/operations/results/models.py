"""Models, vendors and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from toolcrib.agent.export import AnswerUsage
from toolcrib.llm.model_lists import ListedModel
from toolcrib.llm.trial import VendorTrial
from toolcrib.llm.vendors import VendorStatus
from toolcrib.operations.results.calls import Outcome
from toolcrib.operations.results.settings import SecretPlace


@dataclass(frozen=True, kw_only=True)
class Vendor(VendorStatus):
    """A model vendor; `key` is the name of a key, never its value."""

    tried: VendorTrial | None


class Models(TypedDict):
    """The vendors and the default model."""

    model: str | None
    vendors: list[Vendor]


class ModelList(TypedDict):
    """The models of a vendor to choose from."""

    vendor: str
    models: list[ListedModel]
    listed: bool
    """Whether the vendor listed them; else they are those that this version knows."""
    reason: str
    """Why it did not."""


class ModelConnected(TypedDict):
    """A vendor or an address that was tested and stored."""

    model: str
    """The model that answered."""
    ms: float
    default: bool
    """Whether it became the default model, since there was none."""
    place: SecretPlace | None
    """Where the key is stored; None if none was given."""


class EndpointRemoved(TypedDict):
    name: str
    secret: str | None
    """The secret that was deleted with it."""
    default: bool
    """Whether the default model was one of its models; there is none now."""


class AnswerCall(TypedDict):
    """A tool call made for an answer."""

    tool: str
    arguments: dict[str, Any]
    outcome: Outcome
    ms: float


class Answered(TypedDict):
    """An answer with its calls and usage."""

    answer: str
    rounds: int
    calls: list[AnswerCall]
    usage: AnswerUsage
    ending: Literal["answered", "budget", "cut", "refused", "filtered", "unknown", "stopped", "failed"]
    model: str
    chat: str


class AnswerEvent(TypedDict):
    """An event of a running turn; `event` is its kind."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]

    event: str


class ChatClosed(TypedDict):
    """A chat whose processes were ended."""

    chat: str


class ReplyTaken(TypedDict):
    id: str

"""Models, vendors and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from toolcrib.agent.export import AnswerUsage
from toolcrib.llm.trial import VendorTrial
from toolcrib.llm.vendors import VendorStatus
from toolcrib.operations.results.calls import Outcome


@dataclass(frozen=True, kw_only=True)
class Vendor(VendorStatus):
    """A model vendor; `key` is the name of a key, never its value."""

    tried: VendorTrial | None


class Models(TypedDict):
    """The vendors and the default model."""

    model: str | None
    vendors: list[Vendor]


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

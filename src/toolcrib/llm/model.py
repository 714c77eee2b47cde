"""The port: a model is asked once and streams what it says; it knows nothing of rounds, chats or rights."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.schema.messages import FromModel, Message, StopReason, ToolUse, Usage


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a model can do; what is not known is assumed to be so."""

    context_tokens: int = 128_000
    tools: bool = True
    images: bool = True
    """Whether it sees pictures, at all and beside tools."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One question to a model."""

    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    """Definitions in the form that the model names."""
    max_tokens: int | None = None
    temperature: float | None = None
    stop: Sequence[str] = ()


@dataclass(frozen=True)
class TextDelta:
    """More words of the answer."""

    text: str


@dataclass(frozen=True)
class ThinkingDelta:
    """More words of what the model thinks on the way, where it shows them."""

    text: str


@dataclass(frozen=True)
class CallMade:
    """A call was wholly received; told once the answer is complete."""

    call: ToolUse


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The last event: the whole message, why it ended, and what it took."""

    message: FromModel
    reason: StopReason
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    """What the vendor says about the reason, such as the category of a filter."""


@dataclass(frozen=True)
class Noticed:
    """Something that the user should know, such as a picture that was left out."""

    text: str


ModelEvent = TextDelta | ThinkingDelta | CallMade | Noticed | Finished


class Model(Protocol):
    """One model of one vendor."""

    @property
    def name(self) -> str:
        """`vendor:model`."""

    @property
    def form(self) -> str:
        """In which form it wants tools: a name in `toolcrib.tools.formats.FORMATS`."""

    async def traits(self) -> Traits:
        """What it can do; may ask the vendor once."""

    def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Ask. Closing the generator, or cancelling who reads it, ends the request at the vendor.

        Raises `ModelError`. `Finished` comes last, always, unless it raises.
        """

    async def close(self) -> None:
        """Let go of its connections."""

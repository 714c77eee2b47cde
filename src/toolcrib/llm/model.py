"""The model protocol: request, events of the stream, capabilities. Asked once, a model streams an answer; it
knows nothing of rounds, chats or approvals.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.errors import ModelError
from toolcrib.schema.messages import FromModel, Message, StopReason, ToolUse, Usage


@dataclass(frozen=True, kw_only=True)
class ModelTraits:
    """A model's capabilities; unknown ones are assumed."""

    context_tokens: int = 128_000
    assumed: bool = False
    """The context is not known, and this one is assumed."""
    max_output: int | None = None
    """The longest answer in tokens; None if unknown."""
    tools: bool = True
    images: bool = True
    """Whether it accepts pictures, also together with tools."""
    structured: bool = False
    """Whether it keeps to `answer_schema`, or at least to JSON; others ignore it."""
    list_price: bool = True
    """Whether its vendor serves it: somebody else may charge another price for a model of this name."""


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """One request to a model."""

    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    """Definitions in the model's `form`."""
    max_tokens: int | None = None
    temperature: float | None = None
    stop: Sequence[str] = ()
    answer_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the answer; None for text."""
    effort: str = ""
    """How much the model thinks; empty for its default."""
    summaries: bool = True
    """Whether a vendor is asked to show a summary of the reasoning."""
    conversation: str = ""
    """The chat; some reasoning is bound to it."""


@dataclass(frozen=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True)
class ThinkingDelta:
    """More of the model's reasoning, if shown."""

    text: str


@dataclass(frozen=True)
class CallMade:
    """A complete call, sent once the answer is complete."""

    call: ToolUse


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The last event: the whole message, why it ended, and its usage."""

    message: FromModel
    reason: StopReason
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    """The vendor's detail for the reason, such as the category of a filter."""


@dataclass(frozen=True)
class ModelNotice:
    """A notice for the user, such as a picture that was left out."""

    text: str


ModelEvent = TextDelta | ThinkingDelta | CallMade | ModelNotice | Finished


class Model(Protocol):
    """One model of one vendor."""

    @property
    def name(self) -> str:
        """`vendor:model`."""

    @property
    def form(self) -> str:
        """The format of its tools: a name in `toolcrib.tools.formats.FORMATS`."""

    async def traits(self) -> ModelTraits:
        """Its capabilities; may ask the vendor once."""

    def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream an answer. Closing the generator, or cancelling its reader, ends the request at the vendor.

        Raises `ModelError`. `Finished` is always last, unless it raises.
        """

    async def close(self) -> None:
        """Close its connections."""


async def complete(model: Model, request: CompletionRequest) -> Finished:
    """The whole answer at once; raises `ModelError`."""
    async with aclosing(model.stream(request)) as events:
        async for event in events:
            if isinstance(event, Finished):
                return event
    raise ModelError(f"{model.name} ended without an answer.")

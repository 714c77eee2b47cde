"""Messages between a user, a model and tools, independent of vendors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Image:
    """A picture as base64."""

    data: str = field(repr=False)
    mime: str = "image/png"


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A model's request to call a tool."""

    id: str
    """Unique within a chat; generated if the vendor gives none."""
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    broken: str | None = None
    """The arguments as written by the model, if they are not a JSON object."""
    cut: bool = False
    """Ended by the model's output limit: never run."""
    vendor: Mapping[str, Any] = field(default_factory=dict)
    """Data the vendor wants back with it, such as a signature, and its `origin`."""


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """A part that only its vendor understands and wants back unchanged, mostly reasoning."""

    vendor: str
    """The protocol."""
    data: Mapping[str, Any]
    origin: str = ""
    """The endpoint and model that wrote it, in the protocol's own form: only they get it back."""


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """The result of one `ToolUse`."""

    id: str
    name: str
    parts: tuple[Text | Image, ...]
    outcome: str = "ok"
    """An outcome of `Caller`: ok, tool_error, invalid, denied, timeout, cancelled, unavailable, failed."""
    ms: float = 0.0
    rule: str = ""
    """The rule that decided, if any; not shown to models."""
    ran: bool = True
    """False if the call was stopped before it reached the tool."""

    @property
    def failed(self) -> bool:
        """Whether it is reported as an error."""
        return self.outcome != "ok"

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(part for part in self.parts if isinstance(part, Image))


@dataclass(frozen=True, kw_only=True)
class FromUser:
    parts: tuple[Text | Image, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, kw_only=True)
class FromModel:
    """A model's message: text, calls, or both."""

    parts: tuple[Text | ToolUse | Opaque, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolUse))


@dataclass(frozen=True, kw_only=True)
class FromTools:
    """The answers to all calls of the previous message, in order."""

    answers: tuple[ToolAnswer, ...]


Message = FromUser | FromModel | FromTools


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, as counted by the vendor."""

    input: int = 0
    """All input tokens, including cached ones."""
    output: int = 0
    cached: int = 0
    """Input tokens read from the vendor's cache."""
    requests: int = 0
    written: int = 0
    """Input tokens charged for writing to the vendor's cache."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            requests=self.requests + other.requests,
            written=self.written + other.written,
        )


StopReason = Literal["end", "calls", "length", "refused", "filtered", "paused", "unknown"]
"""Why a model stopped: done, wants tools, reached its output limit, refused, was filtered, waits to be asked
to go on, or for a reason that is not known here."""

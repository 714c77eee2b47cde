"""What is said between a person, a model and tools, in no vendor's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True)
class Image:
    """A picture, as base64."""

    data: str = field(repr=False)
    mime: str = "image/png"


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A model asks for a tool."""

    id: str
    """Unique within a chat; made up where the vendor gives none."""
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    broken: str | None = None
    """The arguments as the model wrote them, when they are no JSON object."""
    cut: bool = False
    """The output limit of the model ended it: it is never run."""
    vendor: Mapping[str, Any] = field(default_factory=dict)
    """What its own vendor wants back with it, such as a signature."""


@dataclass(frozen=True, kw_only=True)
class Opaque:
    """Something that only its own vendor understands and wants back as it came: reasoning, mostly."""

    vendor: str
    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What came of one `ToolUse`."""

    id: str
    name: str
    parts: tuple[Text | Image, ...]
    outcome: str = "ok"
    """As the door calls it: ok, tool_error, invalid, denied, timeout, cancelled, unavailable, failed."""
    ms: float = 0.0
    rule: str = ""
    """The rule of the gate that decided it, where one did; no model is shown it."""
    ran: bool = True
    """False when the call was stopped before it reached the tool."""

    @property
    def failed(self) -> bool:
        """True when it is told as an error."""
        return self.outcome != "ok"

    @property
    def text(self) -> str:
        """The words of it."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures of it."""
        return tuple(part for part in self.parts if isinstance(part, Image))


@dataclass(frozen=True, kw_only=True)
class FromPerson:
    """A person's message."""

    parts: tuple[Text | Image, ...]

    @property
    def text(self) -> str:
        """The words of it."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, kw_only=True)
class FromModel:
    """A model's message: words, calls, or both."""

    parts: tuple[Text | ToolUse | Opaque, ...]

    @property
    def text(self) -> str:
        """The words of it."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """The tools it asks for."""
        return tuple(part for part in self.parts if isinstance(part, ToolUse))


@dataclass(frozen=True, kw_only=True)
class FromTools:
    """The answers to all calls of the message before, in their order."""

    answers: tuple[ToolAnswer, ...]


Message = FromPerson | FromModel | FromTools


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, as the vendor counts them."""

    input: int = 0
    """All that was sent, what the vendor had cached included."""
    output: int = 0
    cached: int = 0
    """Of the input, what the vendor had kept from before."""
    requests: int = 0
    written: int = 0
    """Of the input, what the vendor charges for writing to its cache."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            requests=self.requests + other.requests,
            written=self.written + other.written,
        )


StopReason = Literal["end", "calls", "length", "refused", "filtered"]
"""Why a model stopped: it was done, wants tools, reached its output limit, refused, or was filtered."""

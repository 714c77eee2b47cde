"""Builds one message from what a model streams: each call gets an id, and an object as its arguments.

A call that was not received completely never runs: it is marked as cut if the model reached its output limit;
otherwise the whole answer counts as cut off.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.llm.json_values import clean_text, decode, encode, identifier, is_valid, made_valid
from toolcrib.llm.model import CallMade, Finished, ModelEvent, TextDelta, ThinkingDelta
from toolcrib.schema.messages import FromModel, Opaque, StopReason, Text, ToolUse, Usage

_LONGEST_NAME = 256
_LONGEST_BROKEN = 20_000
_DECLINED = ("refused", "filtered")


@dataclass
class CallDraft:
    """A call that is still being written."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class AnswerBuilder:
    parts: list[Text | ToolUse | Opaque] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    reason: StopReason | None = None
    detail: str = ""
    """The vendor's detail for the reason, such as the category of a filter."""
    ended: bool = False
    """The answer is complete; a stream that stops before that was cut off."""
    over: bool = False
    """Nothing more will follow."""
    _ids: set[str] = field(default_factory=set)
    _words: list[str] = field(default_factory=list)
    _half: str = ""
    """The first half of a surrogate pair split by a server."""
    _whole: set[str] = field(default_factory=set)
    """Calls whose arguments are complete JSON, so nothing is missing."""
    _open: set[str] = field(default_factory=set)
    """Calls whose end was not reported."""

    @property
    def broke_off(self) -> bool:
        """Whether something is missing for another reason than the output limit."""
        return not self.ended or bool(self._open and self.reason not in ("length", *_DECLINED))

    def say(self, text: object) -> list[ModelEvent]:
        if not isinstance(text, str):
            return []
        said = self._half + text
        self._half = said[-1] if said and "\ud800" <= said[-1] <= "\udbff" else ""
        said = clean_text(said.removesuffix(self._half) if self._half else said)
        if not said:
            return []
        self._words.append(said)
        return [TextDelta(said)]

    def think(self, text: object) -> list[ModelEvent]:
        """Reasoning is shown and not kept."""
        return [ThinkingDelta(clean_text(text))] if isinstance(text, str) and text else []

    def keep(self, part: Opaque) -> None:
        self._settle()
        # The store rejects invalid JSON, as vendors do.
        self.parts.append(part if is_valid(part.data) else replace(part, data=made_valid(part.data)))

    def call(
        self,
        id_: object,
        name: object,
        arguments: object,
        vendor: Mapping[str, Any] | None = None,
        *,
        closed: bool = True,
    ) -> CallMade:
        """Add a call; `arguments` are JSON text or an object. Not `closed` if its end was not reported."""
        self._settle()
        id_ = clean_text(identifier(id_))
        # Some servers give no id or the same one twice; answers must be distinguishable.
        if not id_ or id_ in self._ids or len(id_) > _LONGEST_NAME:
            id_ = f"call_{secrets.token_hex(6)}"
        self._ids.add(id_)
        read, broken = read_arguments(arguments)
        if broken is None and isinstance(arguments, str) and arguments.strip():
            self._whole.add(id_)
        elif not closed:
            self._open.add(id_)
        called = clean_text(identifier(name))[:_LONGEST_NAME]
        use = ToolUse(id=id_, name=called, arguments=read, broken=broken, vendor=dict(vendor or {}))
        self.parts.append(use)
        return CallMade(use)

    def end(self) -> None:
        self.ended = self.over = True

    def finish(self) -> Finished:
        """The whole message; only its text if it was refused or filtered."""
        self._settle()
        parts = self.parts
        if self.reason in _DECLINED:
            parts = [part for part in parts if isinstance(part, Text)]
        elif self.reason == "length":
            last = len(parts) - 1
            parts = [self._cut(part, last=at == last) for at, part in enumerate(parts)]
        message = FromModel(parts=tuple(parts))
        return Finished(message=message, reason=self._why(message), usage=self.usage, detail=self.detail)

    def _why(self, message: FromModel) -> StopReason:
        if self.reason == "length" or self.reason in _DECLINED:
            return self.reason
        return "calls" if message.calls else "end"

    def _cut(self, part: Text | ToolUse | Opaque, *, last: bool) -> Text | ToolUse | Opaque:
        """The part, marked as cut if it is a call that the output limit may have ended."""
        if not isinstance(part, ToolUse) or part.id in self._whole:
            return part
        return replace(part, cut=True) if last or part.id in self._open else part

    def _settle(self) -> None:
        if self._half:
            self._words.append("\ufffd")
            self._half = ""
        if self._words:
            self.parts.append(Text("".join(self._words)))
            self._words = []


def read_arguments(arguments: object) -> tuple[dict[str, Any], str | None]:
    """The arguments as an object, or an empty one and the text as written."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, None
    try:
        found = decode(arguments) if isinstance(arguments, str) else arguments
        if isinstance(found, str):  # An object inside a string: some small models write that.
            found = decode(found)
    except ValueError:
        return {}, _written(arguments)
    if found is None:
        return {}, None
    if isinstance(found, dict) and is_valid(found):
        return found, None
    return {}, _written(arguments)


def _written(arguments: object) -> str:
    text = arguments if isinstance(arguments, str) else encode(arguments).decode()
    return clean_text(text)[:_LONGEST_BROKEN]

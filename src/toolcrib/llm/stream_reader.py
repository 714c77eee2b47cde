"""Gathers what a model streams into one message: each call gets an id, and an object as its arguments.

A call that was not wholly received is never handed on as one that may run: it is marked as cut where the
model reached its output limit, and anywhere else the whole answer counts as broken off.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.llm.model import CallMade, Finished, ModelEvent, TextDelta, ThinkingDelta
from toolcrib.llm.valid_json import clean_text, decode, encode, is_valid, made_valid
from toolcrib.llm.values import identifier
from toolcrib.schema.messages import FromModel, Opaque, StopReason, Text, ToolUse, Usage

_LONGEST_NAME = 256
_LONGEST_BROKEN = 20_000
_DECLINED = ("refused", "filtered")


@dataclass
class Draft:
    """A call that is still being written."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Gathering:
    """The message as far as it came."""

    parts: list[Text | ToolUse | Opaque] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    reason: StopReason | None = None
    detail: str = ""
    """What the vendor says about the reason, such as the category of a filter."""
    ended: bool = False
    """The answer is complete; a stream that stops before that broke off."""
    over: bool = False
    """Nothing more is to come, so that nobody need wait for it."""
    _ids: set[str] = field(default_factory=set)
    _words: list[str] = field(default_factory=list)
    _half: str = ""
    """The first half of a character that a server cut in two."""
    _whole: set[str] = field(default_factory=set)
    """Calls whose arguments are a complete JSON text, which proves that nothing of them is missing."""
    _open: set[str] = field(default_factory=set)
    """Calls whose end the vendor did not tell."""

    @property
    def broke_off(self) -> bool:
        """Whether something is missing for another reason than the model's output limit."""
        return not self.ended or bool(self._open and self.reason not in ("length", *_DECLINED))

    def say(self, text: object) -> list[ModelEvent]:
        """More words of the answer."""
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
        """More words of what the model thinks; shown and not kept."""
        return [ThinkingDelta(clean_text(text))] if isinstance(text, str) and text else []

    def keep(self, part: Opaque) -> None:
        """Something for the vendor alone."""
        self._settle()
        # The store refuses what is no valid JSON, as vendors do.
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
        """A call; `arguments` are JSON, or an object already. Not `closed`, its end was not told."""
        self._settle()
        id_ = clean_text(identifier(id_))
        # Some servers give no id, and some the same one twice: answers could not be told apart.
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
        """Complete, and nothing follows."""
        self.ended = self.over = True

    def finish(self) -> Finished:
        """The whole message; of one that was refused or filtered, only the words."""
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
        """The part, marked as cut where it is a call that the output limit may have ended."""
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
    """The arguments as an object, or none and what was written instead."""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, None
    try:
        found = decode(arguments) if isinstance(arguments, str) else arguments
        if isinstance(found, str):  # An object inside a string: seen with small models.
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

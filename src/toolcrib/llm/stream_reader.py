"""Builds one message from what a model streams: each call gets an id, and an object as its arguments. Handles
invalid or cut-off calls and `<think>` tags.

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
_DECLINED = ("refused", "filtered", "unknown")
"""Only the text counts: calls of such an answer never run."""
_BEGIN, _END = "<think>", "</think>"


class TaggedReasoning:
    """Separates reasoning that some servers leave in the text: `<think>…</think>` at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._began = self._ended = False
        self._after = False
        """The end mark was the last: line breaks after it do not belong to the text."""
        self.unclosed = ""
        """Reasoning so far whose end did not come."""

    def split(self, text: str) -> tuple[str, str]:
        """The reasoning and the other text of this piece."""
        if self._ended:
            said = text.lstrip("\n") if self._after else text
            self._after = self._after and not said
            return "", said
        held, self._held = self._held + text, ""
        if not self._began:
            begun = held.lstrip()
            if len(begun) < len(_BEGIN) and _BEGIN.startswith(begun):
                self._held = held
                return "", ""
            if not begun.startswith(_BEGIN):
                self._ended = True
                return "", held
            self._began, held = True, begun.removeprefix(_BEGIN)
        thought, self._ended, said = _partition(held)
        if not self._ended:
            kept = next(size for size in range(len(_END) - 1, -1, -1) if held.endswith(_END[:size]))
            thought, self._held = held[: len(held) - kept], held[len(held) - kept :]
        self.unclosed = "" if self._ended else self.unclosed + thought
        said = said.lstrip("\n")
        self._after = self._ended and not said
        return thought, said

    def rest(self) -> str:
        """Text that was held back and is no tag."""
        held, self._held = self._held, ""
        return "" if self._began else held


def _partition(text: str) -> tuple[str, bool, str]:
    before, mark, after = text.partition(_END)
    return before, bool(mark), after


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
    origin: str = ""
    """Marks the opaque parts: see `Opaque.origin`."""
    tagged: TaggedReasoning | None = None
    """Set for protocols whose servers may leave reasoning in the text."""
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
        thought, said = self.tagged.split(said) if self.tagged is not None else ("", said)
        events = self.think(thought)
        if said:
            self._words.append(said)
            events.append(TextDelta(said))
        return events

    def think(self, text: object) -> list[ModelEvent]:
        """Reasoning is shown; what a vendor wants back is kept separately."""
        return [ThinkingDelta(clean_text(text))] if isinstance(text, str) and text else []

    def keep(self, part: Opaque, *, first: bool = False) -> None:
        """Add a part for the vendor, at the end or before all others."""
        self._settle()
        # The store rejects invalid JSON, as vendors do.
        data = part.data if is_valid(part.data) else made_valid(part.data)
        self.parts.insert(0 if first else len(self.parts), replace(part, data=data, origin=self.origin))

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
        own = {**vendor, "origin": self.origin} if vendor else {}
        use = ToolUse(id=id_, name=called, arguments=read, broken=broken, vendor=own)
        self.parts.append(use)
        return CallMade(use)

    def end(self) -> None:
        self.ended = self.over = True

    def finish(self) -> Finished:
        """The whole message; only its text if it was refused or filtered."""
        self._settle()
        if self.tagged is not None and not self.parts and self.tagged.unclosed and self.reason != "length":
            self.parts.append(Text(self.tagged.unclosed))  # The whole answer: it was no reasoning.
        parts = self.parts
        if self.reason in _DECLINED:
            parts = [part for part in parts if isinstance(part, Text)]
        elif self.reason == "length":
            last = len(parts) - 1
            parts = [self._cut(part, last=at == last) for at, part in enumerate(parts)]
        message = FromModel(parts=tuple(parts))
        return Finished(message=message, reason=self._why(message), usage=self.usage, detail=self.detail)

    def _why(self, message: FromModel) -> StopReason:
        if self.reason in ("length", "paused") or self.reason in _DECLINED:
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
        if self.tagged is not None and (held := self.tagged.rest()):
            self._words.append(held)
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

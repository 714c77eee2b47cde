"""Turns a history into one that a vendor accepts, whatever models, tools and earlier versions left in it.

One picture, name or id that a vendor refuses would otherwise end the chat for good, because it is sent again
with every request. What is acceptable already is not changed, so that a vendor's cache of it stays valid.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.llm.valid_json import clean_text, is_valid, made_valid
from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
    FromTools,
    Image,
    Message,
    Text,
    ToolAnswer,
    ToolUse,
)

MOST_PICTURES = 20
"""Pictures in one request, the latest ones; beyond that Anthropic takes smaller ones only."""
MOST_PICTURE_CHARACTERS = 20_000_000
"""Of all of them, as base64; requests may have 20 to 32 MB."""
UNSEEN = "(A picture was here. You cannot see pictures.)"
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_KEPT_NAME = 48


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a vendor accepts as the name and the id of a call."""

    name: re.Pattern[str] = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
    call_id: re.Pattern[str] = re.compile(r"[A-Za-z0-9_-]{1,40}")
    made_id: str = "call_{:.24}"
    """How an id is made of a hash where the call's own is not accepted."""


NINE_CHARACTERS = Limits(call_id=re.compile(r"[A-Za-z0-9]{9}"), made_id="{:.9}")
"""Ids as Mistral's models want them."""


def acceptable(
    messages: Sequence[Message], limits: Limits, *, images: bool = True, refused: frozenset[str] = frozenset()
) -> list[Message]:
    """The same history; a note stands for a picture that is not taken, and for each one without `images`."""
    pictures = _Pictures(images=images, refused=refused)
    seen = [pictures.check(message) for message in reversed(messages)]
    calls = _Calls(limits)
    return [calls.check(message) for message in reversed(seen)]


def without_pictures(messages: Sequence[Message]) -> list[Message]:
    """The same history for a model that cannot see: a note stands for each picture."""
    pictures = _Pictures(images=False, refused=frozenset())
    return [pictures.check(message) for message in messages]


def has_pictures(messages: Iterable[Message]) -> bool:
    """Whether any message holds a picture."""
    return any(True for _ in pictures_in(messages))


def pictures_in(messages: Iterable[Message]) -> Iterable[Image]:
    """All pictures of a history."""
    for message in messages:
        if isinstance(message, FromTools):
            for answer in message.answers:
                yield from answer.images
        elif isinstance(message, FromPerson):
            yield from (part for part in message.parts if isinstance(part, Image))


def fingerprint(image: Image) -> str:
    """A short name for a picture."""
    return _digest(image.data)[:24]


@dataclass
class _Pictures:
    """Checks texts and pictures; asked for the latest message first."""

    images: bool
    refused: frozenset[str]
    sent: int = 0
    characters: int = 0

    def check(self, message: Message) -> Message:
        if isinstance(message, FromTools):
            answers = [replace(one, parts=self._parts(one.parts)) for one in message.answers]
            return FromTools(answers=tuple(answers))
        if isinstance(message, FromPerson):
            return FromPerson(parts=self._parts(message.parts))
        return FromModel(
            parts=tuple(_clean(part) if isinstance(part, Text) else part for part in message.parts)
        )

    def _parts(self, parts: tuple[Text | Image, ...]) -> tuple[Text | Image, ...]:
        return tuple(self._picture(part) if isinstance(part, Image) else _clean(part) for part in parts)

    def _picture(self, image: Image) -> Text | Image:
        if not self.images:
            return Text(UNSEEN)
        if self.sent >= MOST_PICTURES or self.characters + len(image.data) > MOST_PICTURE_CHARACTERS:
            return _left_out("there are too many later ones")
        found = checked(image.data, image.mime)
        if isinstance(found, NoPicture):
            return _left_out(found.why)
        if self.refused and fingerprint(found) in self.refused:
            return _left_out("the vendor of the model refused it")
        self.sent += 1
        self.characters += len(found.data)
        return found


def _left_out(why: str) -> Text:
    return Text(f"(A picture was here. It is left out: {why}.)")


def _clean(part: Text) -> Text:
    text = clean_text(part.text)
    return part if text is part.text else Text(text)


@dataclass
class _Calls:
    """Gives every call and its answer an accepted name, and an id that no other call of the history has."""

    limits: Limits
    given: set[str] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    asked: dict[str, ToolUse] = field(default_factory=dict)
    """The calls of the message before, by the id that they had."""

    def check(self, message: Message) -> Message:
        if isinstance(message, FromTools):
            return FromTools(answers=tuple(self._answer(answer) for answer in message.answers))
        if isinstance(message, FromPerson):
            return message
        self.asked = {}
        return FromModel(
            parts=tuple(self._call(part) if isinstance(part, ToolUse) else part for part in message.parts)
        )

    def _call(self, call: ToolUse) -> ToolUse:
        arguments = call.arguments if is_valid(call.arguments) else made_valid(call.arguments)
        fit = replace(
            call, id=self._id(call.id), name=accepted_name(call.name, self.limits), arguments=arguments
        )
        self.asked[call.id] = fit
        return fit

    def _answer(self, answer: ToolAnswer) -> ToolAnswer:
        call = self.asked.get(answer.id)
        if call is None:
            return replace(answer, name=accepted_name(answer.name, self.limits))
        return replace(answer, id=call.id, name=call.name)

    def _id(self, wanted: str) -> str:
        found, times = wanted, self.times.get(wanted, 0)
        while found in self.given or not self.limits.call_id.fullmatch(found):
            found = self.limits.made_id.format(_digest(f"{wanted} {times}"))
            times += 1
        self.times[wanted] = times
        self.given.add(found)
        return found


def accepted_name(name: str, limits: Limits) -> str:
    """The name itself where it is accepted, else one like it that no other name leads to."""
    if limits.name.fullmatch(name):
        return name
    begun = _OTHER_CHARACTERS.sub("_", name)[:_LONGEST_KEPT_NAME].strip("_-") or "unnamed"
    if not begun[0].isalpha():
        begun = f"tool_{begun}"
    return f"{begun}_{_digest(name)[:8]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

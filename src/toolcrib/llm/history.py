"""Turns a chat's history into one that a vendor accepts, whatever models, tools and earlier versions left in
it: names and ids of calls, the most pictures in a request, and the notes in place of those left out.

One rejected picture, name or id would otherwise end the chat, because it is sent with every request. What is
valid stays unchanged, so that the vendor's cache stays valid.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from toolcrib.llm.json_values import clean_text, is_valid, made_valid
from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.schema.messages import FromModel, FromTools, FromUser, Image, Message, Text, ToolAnswer, ToolUse

MOST_PICTURES = 20
"""Latest pictures sent in one request; with more, Anthropic accepts only smaller ones."""
MOST_PICTURE_CHARACTERS = 20_000_000
"""Total size of pictures as base64; requests may have 20 to 32 MB."""
UNSEEN = "(A picture was here. You cannot see pictures.)"
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_KEPT_NAME = 48


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Names and ids of calls that a vendor accepts."""

    name: re.Pattern[str] = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
    call_id: re.Pattern[str] = re.compile(r"[A-Za-z0-9_-]{1,40}")
    made_id: str = "call_{:.24}"
    """Makes an id from a hash if the call's own is not accepted."""


NINE_CHARACTERS = Limits(call_id=re.compile(r"[A-Za-z0-9]{9}"), made_id="{:.9}")
"""Ids for Mistral's models."""


def acceptable(
    messages: Sequence[Message], limits: Limits, *, images: bool = True, refused: frozenset[str] = frozenset()
) -> list[Message]:
    """The history with notes in place of pictures that are not accepted, or of all pictures without
    `images`."""
    pictures = _Pictures(images=images, refused=refused)
    seen = [pictures.check(message) for message in reversed(messages)]
    calls = _Calls(limits)
    return [calls.check(message) for message in reversed(seen)]


def without_pictures(messages: Sequence[Message]) -> list[Message]:
    """The history with a note in place of each picture."""
    pictures = _Pictures(images=False, refused=frozenset())
    return [pictures.check(message) for message in messages]


def has_pictures(messages: Iterable[Message]) -> bool:
    return any(True for _ in pictures_in(messages))


def pictures_in(messages: Iterable[Message]) -> Iterable[Image]:
    for message in messages:
        if isinstance(message, FromTools):
            for answer in message.answers:
                yield from answer.images
        elif isinstance(message, FromUser):
            yield from (part for part in message.parts if isinstance(part, Image))


def fingerprint(image: Image) -> str:
    return _digest(image.data)[:24]


@dataclass
class _Pictures:
    """Checks texts and pictures, latest message first."""

    images: bool
    refused: frozenset[str]
    sent: int = 0
    characters: int = 0

    def check(self, message: Message) -> Message:
        if isinstance(message, FromTools):
            answers = [replace(answer, parts=self._parts(answer.parts)) for answer in message.answers]
            return FromTools(answers=tuple(answers))
        if isinstance(message, FromUser):
            return FromUser(parts=self._parts(message.parts))
        return FromModel(
            parts=tuple(_clean(part) if isinstance(part, Text) else part for part in message.parts)
        )

    def _parts(self, parts: tuple[Text | Image, ...]) -> tuple[Text | Image, ...]:
        return tuple(self._picture(part) if isinstance(part, Image) else _clean(part) for part in parts)

    def _picture(self, image: Image) -> Text | Image:
        if not self.images:
            return Text(UNSEEN)
        if self.sent >= MOST_PICTURES or self.characters + len(image.data) > MOST_PICTURE_CHARACTERS:
            return _left_out("there are too many newer ones")
        found = checked(image.data, image.mime)
        if isinstance(found, NoPicture):
            return _left_out(found.why)
        if self.refused and fingerprint(found) in self.refused:
            return _left_out("the model's vendor rejected it")
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
    """Gives every call and its answer an accepted name and a unique id."""

    limits: Limits
    given: set[str] = field(default_factory=set)
    times: dict[str, int] = field(default_factory=dict)
    asked: dict[str, ToolUse] = field(default_factory=dict)
    """The calls of the previous message, by original id."""

    def check(self, message: Message) -> Message:
        if isinstance(message, FromTools):
            return FromTools(answers=tuple(self._answer(answer) for answer in message.answers))
        if isinstance(message, FromUser):
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
    """The name if it is accepted, else a unique similar one."""
    if limits.name.fullmatch(name):
        return name
    begun = _OTHER_CHARACTERS.sub("_", name)[:_LONGEST_KEPT_NAME].strip("_-") or "unnamed"
    if not begun[0].isalpha():
        begun = f"tool_{begun}"
    return f"{begun}_{_digest(name)[:8]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_LONGEST_ARGUMENTS = 2000


def without_calls(messages: Sequence[Message]) -> list[Message]:
    """The history with calls as plain text; some vendors reject calls if no tools are offered."""
    return [_plain(message) for message in messages]


def _plain(message: Message) -> Message:
    if isinstance(message, FromUser):
        return message
    if isinstance(message, FromModel):
        words = [_words(part) for part in message.parts if isinstance(part, Text | ToolUse)]
        return FromModel(parts=(Text("\n".join(word for word in words if word)),))
    parts: list[Text | Image] = []
    for answer in message.answers:
        how = "failed" if answer.failed else "answered"
        parts += [Text(f"(The tool {answer.name} {how}:)"), *answer.parts]
    return FromUser(parts=tuple(parts))


def _words(part: Text | ToolUse) -> str:
    if isinstance(part, Text):
        return part.text
    return f"(I called the tool {part.name} with {json.dumps(dict(part.arguments))[:_LONGEST_ARGUMENTS]}.)"


def in_turns_with_calls(messages: Sequence[Message]) -> list[bool]:
    """For each message, whether the model called tools between the user's messages around it."""
    result: list[bool] = []
    turn: list[Message] = []
    for message in [*messages, None]:
        if message is None or isinstance(message, FromUser):
            called = any(isinstance(said, FromModel) and said.calls for said in turn)
            result += [called] * len(turn)
            turn = []
        if message is not None:
            turn.append(message)
    return result


def joined(messages: Sequence[Message]) -> list[Message]:
    """Merges consecutive messages of the same sender, as most vendors require."""
    result: list[Message] = []
    for message in messages:
        last = result[-1] if result else None
        if isinstance(message, FromUser) and isinstance(last, FromUser):
            result[-1] = FromUser(parts=(*last.parts, *message.parts))
        elif isinstance(message, FromModel) and isinstance(last, FromModel):
            result[-1] = FromModel(parts=(*last.parts, *message.parts))
        else:
            result.append(message)
    return result

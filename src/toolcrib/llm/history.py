"""Earlier messages for a model that is offered no tools: calls and their answers become plain words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from toolcrib.schema.messages import FromModel, FromPerson, Image, Message, Text, ToolUse

_LONGEST_ARGUMENTS = 2000


def without_calls(messages: Sequence[Message]) -> list[Message]:
    """The same talk; some vendors refuse calls in it when no tools are offered."""
    return [_plain(message) for message in messages]


def _plain(message: Message) -> Message:
    if isinstance(message, FromPerson):
        return message
    if isinstance(message, FromModel):
        words = [_words(part) for part in message.parts if isinstance(part, Text | ToolUse)]
        return FromModel(parts=(Text("\n".join(word for word in words if word)),))
    parts: list[Text | Image] = []
    for answer in message.answers:
        how = "failed" if answer.failed else "answered"
        parts += [Text(f"(The tool {answer.name} {how}:)"), *answer.parts]
    return FromPerson(parts=tuple(parts))


def _words(part: Text | ToolUse) -> str:
    if isinstance(part, Text):
        return part.text
    return f"(I called the tool {part.name} with {json.dumps(dict(part.arguments))[:_LONGEST_ARGUMENTS]}.)"


def joined(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of the same speaker as one: most vendors want them in turns."""
    result: list[Message] = []
    for message in messages:
        last = result[-1] if result else None
        if isinstance(message, FromPerson) and isinstance(last, FromPerson):
            result[-1] = FromPerson(parts=(*last.parts, *message.parts))
        elif isinstance(message, FromModel) and isinstance(last, FromModel):
            result[-1] = FromModel(parts=(*last.parts, *message.parts))
        else:
            result.append(message)
    return result

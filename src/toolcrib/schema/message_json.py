"""Messages as JSON, for the store and for exports; unknown keys are passed over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
    FromTools,
    Image,
    Message,
    Opaque,
    Text,
    ToolAnswer,
    ToolUse,
)

Json = dict[str, Any]


def message_json(message: Message) -> Json:
    """A message as plain data."""
    if isinstance(message, FromTools):
        return {"from": "tools", "answers": [answer_json(answer) for answer in message.answers]}
    who = "person" if isinstance(message, FromPerson) else "model"
    return {"from": who, "parts": [part_json(part) for part in message.parts]}


def read_message(data: Mapping[str, Any]) -> Message:
    """The message again."""
    if data["from"] == "tools":
        return FromTools(answers=tuple(read_answer(answer) for answer in data["answers"]))
    parts = [_read_part(part) for part in data["parts"]]
    if data["from"] == "person":
        return FromPerson(parts=tuple(part for part in parts if isinstance(part, Text | Image)))
    return FromModel(parts=tuple(part for part in parts if not isinstance(part, Image)))


def part_json(part: Text | Image | ToolUse | Opaque) -> Json:
    """A part of a message as plain data."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        return {"type": "image", "data": part.data, "mime": part.mime}
    if isinstance(part, Opaque):
        return {"type": "opaque", "vendor": part.vendor, "data": dict(part.data)}
    shown: Json = {"type": "call", "id": part.id, "name": part.name, "arguments": dict(part.arguments)}
    if part.broken is not None:
        shown["broken"] = part.broken
    if part.cut:
        shown["cut"] = True
    if part.vendor:
        shown["vendor"] = dict(part.vendor)
    return shown


def _read_part(data: Mapping[str, Any]) -> Text | Image | ToolUse | Opaque:
    kind = data["type"]
    if kind == "text":
        return Text(data["text"])
    if kind == "image":
        return Image(data["data"], data["mime"])
    if kind == "opaque":
        return Opaque(vendor=data["vendor"], data=data["data"])
    return read_call(data)


def read_call(data: Mapping[str, Any]) -> ToolUse:
    """The call again."""
    return ToolUse(
        id=data["id"],
        name=data["name"],
        arguments=data["arguments"],
        broken=data.get("broken"),
        cut=bool(data.get("cut")),
        vendor=data.get("vendor", {}),
    )


def answer_json(answer: ToolAnswer) -> Json:
    """A tool's answer as plain data."""
    return {
        "id": answer.id,
        "name": answer.name,
        "outcome": answer.outcome,
        "ms": round(answer.ms, 1),
        "parts": [part_json(part) for part in answer.parts],
        **({"rule": answer.rule} if answer.rule else {}),
        **({} if answer.ran else {"ran": False}),
    }


def read_answer(data: Mapping[str, Any]) -> ToolAnswer:
    """The answer again."""
    parts = (_read_part(part) for part in data["parts"])
    return ToolAnswer(
        id=data["id"],
        name=data["name"],
        outcome=data.get("outcome", "ok"),
        ms=data.get("ms", 0.0),
        rule=data.get("rule", ""),
        ran=data.get("ran", True),
        parts=tuple(part for part in parts if isinstance(part, Text | Image)),
    )

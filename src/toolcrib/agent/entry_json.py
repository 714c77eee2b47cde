"""Entries and messages of a chat as JSON, for the store and for exports; unknown keys are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolcrib.agent.chat import (
    ByHand,
    Continued,
    Entry,
    FullResult,
    HistorySummary,
    OfferedTools,
    Partial,
    Remark,
    Said,
    Shortened,
    Took,
)
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Message,
    Opaque,
    Text,
    ToolAnswer,
    ToolUse,
    Usage,
)

Json = dict[str, Any]


def message_json(message: Message) -> Json:
    if isinstance(message, FromTools):
        return {"from": "tools", "answers": [answer_json(answer) for answer in message.answers]}
    who = "person" if isinstance(message, FromUser) else "model"
    return {"from": who, "parts": [part_json(part) for part in message.parts]}


def read_message(data: Mapping[str, Any]) -> Message:
    if data["from"] == "tools":
        return FromTools(answers=tuple(read_answer(answer) for answer in data["answers"]))
    parts = [_read_part(part) for part in data["parts"]]
    if data["from"] == "person":
        return FromUser(parts=tuple(part for part in parts if isinstance(part, Text | Image)))
    return FromModel(parts=tuple(part for part in parts if not isinstance(part, Image)))


def part_json(part: Text | Image | ToolUse | Opaque) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        return {"type": "image", "data": part.data, "mime": part.mime}
    if isinstance(part, Opaque):
        return {"type": "opaque", "vendor": part.vendor, "data": dict(part.data), "origin": part.origin}
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
        return Opaque(vendor=data["vendor"], data=data["data"], origin=data.get("origin", ""))
    return read_call(data)


def read_call(data: Mapping[str, Any]) -> ToolUse:
    return ToolUse(
        id=data["id"],
        name=data["name"],
        arguments=data["arguments"],
        broken=data.get("broken"),
        cut=bool(data.get("cut")),
        vendor=data.get("vendor", {}),
    )


def answer_json(answer: ToolAnswer) -> Json:
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


def entry_json(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The kind of an entry, and its data."""
    if isinstance(entry, Said):
        return "said", message_json(entry.message)
    if isinstance(entry, Partial):
        return "partial", asdict(entry)
    if isinstance(entry, Continued):
        return "continued", {}
    if isinstance(entry, OfferedTools):
        tools = [{"name": name, "why": why} for name, why in entry.tools]
        return "offer", {"tools": tools, "note": entry.note}
    if isinstance(entry, FullResult):
        return "kept", {"name": entry.name, "text": entry.text}
    if isinstance(entry, Shortened):
        return "shortened", {"covers": entry.covers}
    if isinstance(entry, HistorySummary):
        return "summary", {"covers": entry.covers, "text": entry.text}
    if isinstance(entry, ByHand):
        return "by_hand", by_hand_json(entry)
    if isinstance(entry, Took):
        return "took", asdict(entry)
    return "remark", {"kind": entry.kind, "text": entry.text}


def by_hand_json(entry: ByHand) -> dict[str, Any]:
    call = part_json(entry.call)
    return {"mark": entry.call.id, "call": call, "answer": answer_json(entry.answer)}


def read_entry(kind: str, data: Mapping[str, Any]) -> Entry:
    """Reads an entry; an unknown kind becomes a remark."""
    if kind == "said":
        return Said(read_message(data))
    if kind == "partial":
        return Partial(mark=data["mark"], text=data["text"], thinking=data.get("thinking", ""))
    if kind == "continued":
        return Continued()
    if kind == "offer":
        tools = tuple((tool["name"], tool["why"]) for tool in data["tools"])
        return OfferedTools(tools=tools, note=data.get("note", ""))
    if kind == "kept":
        return FullResult(name=data["name"], text=data["text"])
    if kind == "shortened":
        return Shortened(covers=data["covers"])
    if kind == "summary":
        return HistorySummary(covers=data["covers"], text=data["text"])
    if kind == "by_hand":
        return ByHand(call=read_call(data["call"]), answer=read_answer(data["answer"]))
    if kind == "took":
        return Took(**{**data, "usage": Usage(**data["usage"])})
    return Remark(kind=str(data.get("kind", kind)), text=str(data.get("text", "")))

"""Entries and messages of a chat as JSON, for the store and for exports; unknown keys are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

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
    TextFile,
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

T = TypeVar("T")
Json = dict[str, Any]
_PARTS: dict[str, type[Text | Image | ToolUse | Opaque]] = {
    "text": Text,
    "image": Image,
    "opaque": Opaque,
    "call": ToolUse,
}
_PLAIN: dict[str, type[Partial | Continued | FullResult | Shortened | HistorySummary]] = {
    "partial": Partial,
    "continued": Continued,
    "kept": FullResult,
    "shortened": Shortened,
    "summary": HistorySummary,
}
"""Entries that are stored as their fields, by kind."""
_PART_KINDS = {part: kind for kind, part in _PARTS.items()}
_PLAIN_KINDS: dict[type[Entry], str] = {entry: kind for kind, entry in _PLAIN.items()}
_IF_GIVEN = ("broken", "cut", "vendor")
"""Fields of a call that are left out if empty."""


def message_json(message: Message) -> Json:
    if isinstance(message, FromTools):
        return {"from": "tools", "answers": [_answer_json(answer) for answer in message.answers]}
    who = "person" if isinstance(message, FromUser) else "model"
    return {"from": who, "parts": [_part_json(part) for part in message.parts]}


def _read_message(data: Mapping[str, Any]) -> Message:
    if data["from"] == "tools":
        return FromTools(answers=tuple(_read_answer(answer) for answer in data["answers"]))
    parts = [_read(_PARTS[part["type"]], part) for part in data["parts"]]
    if data["from"] == "person":
        return FromUser(parts=tuple(part for part in parts if isinstance(part, Text | Image)))
    return FromModel(parts=tuple(part for part in parts if not isinstance(part, Image)))


def _part_json(part: Text | Image | ToolUse | Opaque) -> Json:
    given = {
        key: dict(value) if isinstance(value, Mapping) else value
        for key, value in vars(part).items()
        if key not in _IF_GIVEN or value not in (None, False, {})
    }
    return {"type": _PART_KINDS[type(part)], **given}


def _answer_json(answer: ToolAnswer) -> Json:
    return {
        "id": answer.id,
        "name": answer.name,
        "outcome": answer.outcome,
        "ms": round(answer.ms, 1),
        "parts": [_part_json(part) for part in answer.parts],
        **({"rule": answer.rule} if answer.rule else {}),
        **({} if answer.ran else {"ran": False}),
    }


def _read_answer(data: Mapping[str, Any]) -> ToolAnswer:
    parts = (_read(_PARTS[part["type"]], part) for part in data["parts"])
    seen = tuple(part for part in parts if isinstance(part, Text | Image))
    return _read(ToolAnswer, {**data, "parts": seen})


def entry_json(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The kind of an entry, and its data."""
    if isinstance(entry, Said):
        replaced = {} if entry.replaces is None else {"replaces": entry.replaces}
        files = {"files": [dict(vars(file)) for file in entry.files]} if entry.files else {}
        return "said", {**message_json(entry.message), **replaced, **files}
    if isinstance(entry, OfferedTools):
        tools = [{"name": name, "why": why} for name, why in entry.tools]
        return "offer", {"tools": tools, "note": entry.note}
    if isinstance(entry, ByHand):
        call, answer = _part_json(entry.call), _answer_json(entry.answer)
        return "by_hand", {"mark": entry.call.id, "call": call, "answer": answer}
    if isinstance(entry, Took):
        return "took", asdict(entry)
    return _PLAIN_KINDS.get(type(entry), "remark"), dict(vars(entry))


def read_entry(kind: str, data: Mapping[str, Any]) -> Entry:
    """Reads an entry; an unknown kind becomes a remark."""
    if kind == "said":
        files = tuple(_read(TextFile, file) for file in data.get("files", ()))
        return Said(_read_message(data), data.get("replaces"), files)
    if kind == "offer":
        tools = tuple((tool["name"], tool["why"]) for tool in data["tools"])
        return OfferedTools(tools=tools, note=data.get("note", ""))
    if kind == "by_hand":
        return ByHand(call=_read(ToolUse, data["call"]), answer=_read_answer(data["answer"]))
    if kind == "took":
        return _read(Took, {**data, "usage": _read(Usage, data["usage"])})
    if kind in _PLAIN:
        return _read(_PLAIN[kind], data)
    return Remark(kind=str(data.get("kind", kind)), text=str(data.get("text", "")))


def _read(kind: type[T], data: Mapping[str, Any]) -> T:
    """The dataclass with the values that it has fields for."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in data.items() if name in known})

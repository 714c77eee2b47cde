"""The entries of a chat as JSON, for the store and for exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolcrib.agent.chat import (
    ByHand,
    Continued,
    Entry,
    Kept,
    Offer,
    Partial,
    Remark,
    Said,
    Shortened,
    Summary,
    Took,
)
from toolcrib.schema.message_json import (
    answer_json,
    message_json,
    part_json,
    read_answer,
    read_call,
    read_message,
)
from toolcrib.schema.messages import Usage


def entry_json(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The kind of an entry, and what it holds."""
    if isinstance(entry, Said):
        return "said", message_json(entry.message)
    if isinstance(entry, Partial):
        return "partial", asdict(entry)
    if isinstance(entry, Continued):
        return "continued", {}
    if isinstance(entry, Offer):
        tools = [{"name": name, "why": why} for name, why in entry.tools]
        return "offer", {"tools": tools, "note": entry.note}
    if isinstance(entry, Kept):
        return "kept", {"name": entry.name, "text": entry.text}
    if isinstance(entry, Shortened):
        return "shortened", {"covers": entry.covers}
    if isinstance(entry, Summary):
        return "summary", {"covers": entry.covers, "text": entry.text}
    if isinstance(entry, ByHand):
        return "by_hand", by_hand_json(entry)
    if isinstance(entry, Took):
        return "took", asdict(entry)
    return "remark", {"kind": entry.kind, "text": entry.text}


def by_hand_json(entry: ByHand) -> dict[str, Any]:
    """A call by hand and its answer."""
    call = part_json(entry.call)
    return {"mark": entry.call.id, "call": call, "answer": answer_json(entry.answer)}


def read_entry(kind: str, data: Mapping[str, Any]) -> Entry:
    """The entry again; one of a kind that is not known here becomes a remark."""
    if kind == "said":
        return Said(read_message(data))
    if kind == "partial":
        return Partial(mark=data["mark"], text=data["text"], thinking=data.get("thinking", ""))
    if kind == "continued":
        return Continued()
    if kind == "offer":
        tools = tuple((one["name"], one["why"]) for one in data["tools"])
        return Offer(tools=tools, note=data.get("note", ""))
    if kind == "kept":
        return Kept(name=data["name"], text=data["text"])
    if kind == "shortened":
        return Shortened(covers=data["covers"])
    if kind == "summary":
        return Summary(covers=data["covers"], text=data["text"])
    if kind == "by_hand":
        return ByHand(call=read_call(data["call"]), answer=read_answer(data["answer"]))
    if kind == "took":
        return Took(**{**data, "usage": Usage(**data["usage"])})
    return Remark(kind=str(data.get("kind", kind)), text=str(data.get("text", "")))

"""The entries of a chat as JSON, for the store and for exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.agent.chat import Entry, Kept, Offer, Remark, Said, Shortened, Summary
from toolcrib.schema.message_json import message_json, read_message


def entry_json(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The kind of an entry, and what it holds."""
    if isinstance(entry, Said):
        return "said", message_json(entry.message)
    if isinstance(entry, Offer):
        tools = [{"name": name, "why": why} for name, why in entry.tools]
        return "offer", {"tools": tools, "note": entry.note}
    if isinstance(entry, Kept):
        return "kept", {"name": entry.name, "text": entry.text}
    if isinstance(entry, Shortened):
        return "shortened", {"covers": entry.covers}
    if isinstance(entry, Summary):
        return "summary", {"covers": entry.covers, "text": entry.text}
    return "remark", {"kind": entry.kind, "text": entry.text}


def read_entry(kind: str, data: Mapping[str, Any]) -> Entry:
    """The entry again; one of a kind that is not known here becomes a remark."""
    if kind == "said":
        return Said(read_message(data))
    if kind == "offer":
        tools = tuple((one["name"], one["why"]) for one in data["tools"])
        return Offer(tools=tools, note=data.get("note", ""))
    if kind == "kept":
        return Kept(name=data["name"], text=data["text"])
    if kind == "shortened":
        return Shortened(covers=data["covers"])
    if kind == "summary":
        return Summary(covers=data["covers"], text=data["text"])
    return Remark(kind=str(data.get("kind", kind)), text=str(data.get("text", "")))

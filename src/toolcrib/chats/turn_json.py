"""A turn from the store as JSON, with the beginning of each result (limit for its length), and one of its
calls with the whole result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from toolcrib.chats.replay import StoredEntry, replay
from toolcrib.chats.turn import Turn, TurnCall, TurnNote, TurnPart, TurnText
from toolcrib.chats.wire import CallItem, CallOutcome, CallWhole, ChatTurn, NoteItem, TurnItem
from toolcrib.errors import NotFound

PREVIEW = 4000
"""Characters of a result in a turn; the rest is fetched when a user wants to read it."""


def turn_json(turn: Turn) -> ChatTurn:
    """A turn that `replay` made."""
    question = None
    if turn.text is not None:
        question = {"position": turn.position, "text": turn.text, "images": turn.images}
        if turn.files:
            question["files"] = turn.files
    return {
        "position": turn.position,
        "until": turn.until,
        "time": turn.time,
        "question": question,  # type: ignore[typeddict-item]
        "offered": turn.offered,
        "of": turn.of,
        "note": turn.note,
        "items": [_item_json(item) for item in turn.items],
        "model": turn.model,
        "ending": turn.ending,
        "usage": turn.usage,
        "cost": turn.cost,
    }


def _item_json(item: TurnPart) -> TurnItem:
    if isinstance(item, TurnCall):
        return _call_json(item)
    if isinstance(item, TurnNote):
        return _note_json(item)
    if isinstance(item, TurnText):
        return cast("TurnItem", {"kind": item.kind, "position": item.position, "text": item.text})
    raise AssertionError("a stored turn has no open questions")


def _call_json(call: TurnCall) -> CallItem:
    images = call.images
    return {
        "kind": "call",
        "position": call.position or 0,
        "id": call.id,
        "tool": call.tool,
        "server": call.server,
        "name": call.name,
        "arguments": dict(call.arguments),
        "outcome": cast("CallOutcome", call.outcome),
        "ms": call.ms,
        "text": call.text[:PREVIEW],
        "chars": len(call.text),
        "whole": None if call.cut is None else call.cut.length,
        "images": [{"mime": image["mime"], "bytes": len(image["data"]) * 3 // 4} for image in images],
        "by_hand": call.by_hand,
        "rule": call.rule,
    }


def _note_json(note: TurnNote) -> NoteItem:
    found = {
        "kind": "note",
        "position": note.position,
        "note": note.note,
        "text": note.text,
        "time": note.time,
    }
    return cast("NoteItem", found)


def whole_call(entries: Sequence[StoredEntry], wanted: str) -> CallWhole:
    """Everything that one call answered; raises `NotFound`."""
    calls = (call for turn in replay(entries, every=True) for call in turn.calls)
    call = next((call for call in calls if call.id == wanted and call.has_result), None)
    if call is None:
        raise NotFound(f"No call {wanted!r} has answered in this chat.", hint="It may still be running.")
    stored = {entry.body["name"]: str(entry.body["text"]) for entry in entries if entry.kind == "kept"}
    return {
        "id": call.id,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "outcome": cast("CallOutcome", call.outcome),
        "ms": call.ms,
        "text": call.text,
        "whole": None if call.cut is None else stored.get(call.cut.name),
        "images": call.images,
    }

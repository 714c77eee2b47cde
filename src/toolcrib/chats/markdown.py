"""Turns of a chat as Markdown, for readers: headings, notes such as "Stopped.", endings, and the longest
result shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby

from toolcrib.chats.turn import Turn, TurnCall, TurnNote, TurnPart, TurnText

_LONGEST = 4000
_NOTES = {"stopped": "*Stopped.*", "failed": "*Failed:*", "notice": "*Notice:*"}
_ENDINGS = {
    "cut": "*The answer was cut off by the output limit of the model.*",
    "refused": "*The model refused to answer.*",
    "filtered": "*The vendor's filter ended the answer.*",
    "unknown": "*The vendor ended the answer for a reason that is not known here.*",
}
_INTERRUPTED = "*(The answer was interrupted here.)*"
_SHORTENED = "*The talk before this was shortened for the model.*"


def turns_markdown(turns: Iterable[Turn]) -> list[str]:
    """The blocks of these turns."""
    return [block for turn in turns for block in _turn(turn)]


def _turn(turn: Turn) -> list[str]:
    messages = groupby(turn.items, key=lambda item: item.position or 0)
    blocks = [(position, _message(list(items))) for position, items in messages]
    blocks += [(position, [_ENDINGS[how]]) for position, how in turn.endings.items() if how in _ENDINGS]
    return _question(turn) + [block for _, found in sorted(blocks) for block in found]


def _question(turn: Turn) -> list[str]:
    if turn.text is None:
        return []
    pictures = [f"*(a picture, {image['mime']})*" for image in turn.images]
    files = [f"*(a file, {file['name']})*" for file in turn.files]
    parts = [part for part in (turn.text, *pictures, *files) if part]
    return ["## Question", *parts] if parts else []


def _message(items: Sequence[TurnPart]) -> list[str]:
    """The items of one entry: a note, a call by hand, or a message of the model with its results."""
    first = items[0]
    if isinstance(first, TurnNote):
        return _note(first)
    if isinstance(first, TurnCall) and first.by_hand:
        return ["*By hand:*", _call(first), _result(first)]
    parts = [part for item in items for part in _parts(item)]
    if isinstance(first, TurnText) and first.partial:
        return ["## Answer", "".join(parts), _INTERRUPTED]
    results = [_result(item) for item in items if isinstance(item, TurnCall) and item.has_result]
    return ["## Answer", *parts, *results]


def _parts(item: TurnPart) -> list[str]:
    if isinstance(item, TurnCall):
        return [_call(item)]
    if isinstance(item, TurnText) and item.kind == "text":
        return [part for part in item.parts if part]
    return []


def _note(note: TurnNote) -> list[str]:
    if note.note == "continued":
        return ["*Continued:*"]
    if note.note == "shortened":
        return [_SHORTENED] if note.text else []
    return [f"{_NOTES[note.note]} {note.text}"] if note.note in _NOTES else []


def _call(call: TurnCall) -> str:
    return f"Calls `{call.tool}`:\n\n```json\n{json.dumps(call.arguments, indent=2)}\n```"


def _result(call: TurnCall) -> str:
    note = "" if call.cut is None else call.cut.note
    text = "\n".join([call.text + note, *("(a picture)" for _ in call.images)])[:_LONGEST]
    fence = "````" if "```" in text else "```"
    return f"`{call.tool}` ({call.outcome}, {call.ms:g} ms):\n\n{fence}\n{text}\n{fence}"

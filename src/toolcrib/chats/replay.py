"""Makes the turns of a chat from its stored entries, each of which becomes events for the reducer; decides
whether a turn without an ending was interrupted or answered. Pure.

Adds what only the store knows: positions, times of notes, whole results and pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcrib.chats.attached import attached_json
from toolcrib.chats.reducer import apply
from toolcrib.chats.result_text import INTERRUPTED, read_result
from toolcrib.chats.turn import Turn, TurnCall, TurnNote, TurnText
from toolcrib.chats.wire import PictureData, QuestionVersion

Json = Mapping[str, Any]


class ToolNames(Protocol):
    """Knows tools by their public names."""

    def named(self, name: str) -> dict[str, Any]:
        """`{server, name}`."""

    def offered(self, name: str, why: str) -> dict[str, Any]:
        """A tool in an offer."""


@dataclass(frozen=True, kw_only=True)
class StoredEntry:
    """One entry of a chat as the store has it."""

    position: int
    time: str | None
    kind: str
    body: Json = field(repr=False)


class _NoNames:
    """For readers that need no more than public names."""

    def named(self, name: str) -> dict[str, Any]:
        return {"server": None, "name": name}

    def offered(self, name: str, why: str) -> dict[str, Any]:
        return {"tool": name, **self.named(name), "why": why, "tokens": 0}


@dataclass
class _Replay:
    names: ToolNames
    of: int
    every: bool
    turns: list[Turn] = field(default_factory=list)

    def take(self, entry: StoredEntry) -> None:
        step = _STEPS.get(entry.kind)
        if step is None or (entry.kind == "remark" and entry.body.get("kind") not in REMARKS):
            self._extend(entry)
            return
        turn = self._turn(entry)
        known = len(turn.items)
        step(self, turn, entry)
        self._extend(entry)
        for item in turn.items[known:]:
            item.position = entry.position
            if isinstance(item, TurnNote):
                item.time = entry.time

    def _turn(self, entry: StoredEntry) -> Turn:
        is_question = entry.kind == "said" and entry.body["from"] == "person"
        replaced = entry.body.get("replaces") if is_question else None
        if replaced is not None and not self.every:
            self.turns = [turn for turn in self.turns if turn.position < replaced]
        if is_question or not self.turns:
            self.turns.append(Turn(position=entry.position, time=entry.time, of=self.of))
        return self.turns[-1]

    def _extend(self, entry: StoredEntry) -> None:
        if self.turns:
            self.turns[-1].until = entry.position + 1

    def said(self, turn: Turn, entry: StoredEntry) -> None:
        speaker = entry.body["from"]
        if speaker == "person":
            _ask(turn, entry)
        elif speaker == "model":
            self._message(turn, entry.body["parts"])
        else:
            for answer in entry.body["answers"]:
                _answer(turn, answer)

    def _message(self, turn: Turn, parts: Sequence[Json]) -> None:
        for part in parts:
            if part["type"] == "text":
                apply(turn, {"event": "text", "text": part["text"]})
            elif part["type"] == "call":
                self._call(turn, part)
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        apply(turn, {"event": "round", "text": text})

    def _call(self, turn: Turn, part: Json) -> None:
        name, arguments = part["name"], dict(part.get("arguments") or {})
        named = {"id": part["id"], "tool": name, **self.names.named(name)}
        apply(turn, {"event": "call", **named, "arguments": arguments})

    def offer(self, turn: Turn, entry: StoredEntry) -> None:
        tools = [self.names.offered(tool["name"], tool["why"]) for tool in entry.body["tools"]]
        note = str(entry.body.get("note") or "")
        apply(turn, {"event": "offered", "tools": tools, "note": note, "of": self.of})

    def by_hand(self, turn: Turn, entry: StoredEntry) -> None:
        part = entry.body.get("call") or entry.body
        self._call(turn, part)
        call = turn.call(part["id"])
        if call is not None:
            call.by_hand = True
        if entry.body.get("answer"):
            _answer(turn, entry.body["answer"])

    def partial(self, turn: Turn, entry: StoredEntry) -> None:
        for kind in ("thinking", "text"):
            text = str(entry.body.get(kind) or "")
            if text.strip():
                apply(turn, {"event": kind, "text": text})

    def continued(self, turn: Turn, entry: StoredEntry) -> None:
        _interrupt_calls(turn)
        apply(turn, {"event": "question", "text": None})
        turn.items.append(TurnNote(note="continued"))

    def shortened(self, turn: Turn, entry: StoredEntry) -> None:
        turn.items.append(TurnNote(note="shortened", text=str(entry.body.get("text", ""))))

    def remark(self, turn: Turn, entry: StoredEntry) -> None:
        kind = entry.body["kind"]
        turn.items.append(TurnNote(note=kind, text=str(entry.body.get("text", ""))))
        if kind != "notice":
            turn.running = False  # Its note is there.
            _end(turn, {"ending": kind})

    def took(self, turn: Turn, entry: StoredEntry) -> None:
        if entry.body.get("model"):
            apply(turn, {"event": "began", "model": str(entry.body["model"])})
        _end(turn, entry.body)
        if turn.ending:
            turn.endings[entry.position] = turn.ending


def _ask(turn: Turn, entry: StoredEntry) -> None:
    parts = entry.body["parts"]
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    asked = {"event": "question", "text": text, "images": _pictures(parts), "time": entry.time}
    apply(turn, {**asked, "files": [attached_json(file) for file in entry.body.get("files", ())]})


def _answer(turn: Turn, answer: Json) -> None:
    call = turn.call(answer["id"])
    if call is None:
        return
    text, call.cut = read_result(answer["parts"])
    call.images = _pictures(answer["parts"])
    apply(
        turn,
        {
            "event": "result",
            "id": answer["id"],
            "outcome": answer.get("outcome", "ok"),
            "ms": answer.get("ms", 0.0),
            "text": text,
            "images": len(call.images),
            "rule": answer.get("rule", ""),
        },
    )


def _end(turn: Turn, body: Json) -> None:
    _interrupt_calls(turn)
    apply(
        turn,
        {
            "event": "ended",
            "ending": body.get("ending"),
            "usage": body.get("usage"),
            "cost": body.get("cost"),
            "error": None,
        },
    )


def _pictures(parts: Sequence[Json]) -> list[PictureData]:
    return [{"mime": part["mime"], "data": part["data"]} for part in parts if part["type"] == "image"]


def _interrupt_calls(turn: Turn) -> None:
    """A call without a result was interrupted: the host was killed."""
    for call in turn.calls:
        if call.unfinished:
            call.outcome, call.text = "interrupted", INTERRUPTED


def _was_answered(turn: Turn) -> bool:
    """Whether a turn without a stored ending has its whole answer: it was killed just after, or is old."""
    own = [item for item in turn.items if not (isinstance(item, TurnCall) and item.by_hand)]
    if turn.text is None and not own:
        return True
    last = own[-1] if own else None
    return isinstance(last, TurnText) and last.kind == "text" and not last.partial


def versions(entries: Sequence[StoredEntry]) -> dict[int, list[QuestionVersion]]:
    """By the position of a question that was asked again: all its versions, in their order, itself included.

    Each says how many entries the chat had before that version was replaced, or null while it is current.
    """
    groups: dict[int, list[int]] = {}
    until: dict[int, int | None] = {}
    for entry in entries:
        if entry.kind != "said" or entry.body["from"] != "person":
            continue
        replaced = entry.body.get("replaces")
        if replaced is not None:
            until |= {at: entry.position for at, end in until.items() if end is None and at >= replaced}
        group = groups[entry.position] = [] if replaced is None else groups.get(replaced, [])
        group.append(entry.position)
        until[entry.position] = None
    return {
        position: [{"position": at, "until": until.get(at)} for at in group]
        for position, group in groups.items()
        if len(group) > 1
    }


REMARKS = ("stopped", "failed", "notice")
_STEPS = {
    "said": _Replay.said,
    "offer": _Replay.offer,
    "partial": _Replay.partial,
    "continued": _Replay.continued,
    "shortened": _Replay.shortened,
    "summary": _Replay.shortened,
    "took": _Replay.took,
    "by_hand": _Replay.by_hand,
    "remark": _Replay.remark,
}


def replay(
    entries: Sequence[StoredEntry], names: ToolNames | None = None, of: int = 0, *, every: bool = False
) -> list[Turn]:
    """The turns of a chat, where `of` tools exist; one without an ending was interrupted, like its calls.

    Those that a later question replaced are left out, unless `every` turn is wanted.
    """
    found = _Replay(names or _NoNames(), of, every)
    for entry in entries:
        found.take(entry)
    for turn in found.turns:
        turn.running = False
        _interrupt_calls(turn)
        if turn.ending is None:
            turn.ending = "answered" if _was_answered(turn) else "interrupted"
    return found.turns

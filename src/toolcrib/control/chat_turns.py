"""A chat's entries as the turns that a page shows: each question with what came of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from toolcrib.agent.chat import INTERRUPTED
from toolcrib.agent.results import plain
from toolcrib.control.answers.chats import (
    CallItem,
    CallWhole,
    ChatTurn,
    NoteItem,
    OfferedTool,
    PictureData,
    TokenUsage,
    TurnItem,
)
from toolcrib.errors import NotFound

PREVIEW = 4000
"""Characters of a result that come with the chat; the rest is fetched when somebody wants to read it."""
_CUT = re.compile(r'\n\(Cut: [\d,]+ of ([\d,]+) characters are shown\..*"name": "(\w+)".*\)\Z')
Json = Mapping[str, Any]


class Names(Protocol):
    """Knows tools by their public names."""

    def named(self, name: str) -> dict[str, Any]:
        """`{server, name}`."""

    def offered(self, name: str, why: str) -> dict[str, Any]:
        """A tool in an offer."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One entry of a chat."""

    position: int
    time: str | None
    kind: str
    body: Json


@dataclass
class _Build:
    names: Names
    of: int
    turns: list[ChatTurn] = field(default_factory=list)
    calls: dict[str, CallItem] = field(default_factory=dict)

    def take(self, row: Row) -> None:
        if row.kind == "said":
            self._said(row)
        elif row.kind == "offer":
            turn = self._turn(row)
            turn["offered"] += [
                cast("OfferedTool", self.names.offered(one["name"], one["why"])) for one in row.body["tools"]
            ]
            turn["note"] = str(row.body.get("note") or turn["note"])
        elif row.kind == "partial":
            self._partial(row)
        elif row.kind == "continued":
            self._turn(row)["ending"] = None
            self._note(row, "continued", "")
        elif row.kind in ("shortened", "summary"):
            self._note(row, "shortened", str(row.body.get("text", "")))
        elif row.kind == "took":
            self._took(row)
        elif row.kind == "by_hand":
            self._by_hand(row)
        elif row.kind == "remark" and row.body.get("kind") in ("stopped", "failed"):
            self._remark(row)
        elif row.kind == "remark" and row.body.get("kind") == "notice":
            self._note(row, "notice", str(row.body.get("text", "")))

    def _said(self, row: Row) -> None:
        who = row.body["from"]
        if who == "person":
            self._begin(row)
        elif who == "model":
            self._model(row)
        else:
            for answer in row.body["answers"]:
                self._answer(answer)

    def _begin(self, row: Row) -> None:
        parts = row.body["parts"]
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        turn = _new_turn(row, self.of)
        turn["question"] = {"position": row.position, "text": text, "images": pictures(parts)}
        self.turns.append(turn)

    def _turn(self, row: Row) -> ChatTurn:
        if not self.turns:
            self.turns.append(_new_turn(row, self.of))
        return self.turns[-1]

    def _model(self, row: Row) -> None:
        turn = self._turn(row)
        words: list[str] = []
        for part in row.body["parts"]:
            if part["type"] == "text":
                words.append(part["text"])
            elif part["type"] == "call":
                self._flush(turn, words, row)
                self._call(turn, part, row)
        self._flush(turn, words, row)

    def _partial(self, row: Row) -> None:
        items = self._turn(row)["items"]
        if str(row.body.get("thinking") or "").strip():
            items.append({"kind": "thinking", "position": row.position, "text": row.body["thinking"]})
        if row.body["text"].strip():
            items.append({"kind": "text", "position": row.position, "text": row.body["text"]})

    def _flush(self, turn: ChatTurn, words: list[str], row: Row) -> None:
        text = "".join(words)
        words.clear()
        if text.strip():
            turn["items"].append({"kind": "text", "position": row.position, "text": text})

    def _call(self, turn: ChatTurn, part: Json, row: Row, *, by_hand: bool = False) -> CallItem:
        item: CallItem = {
            "kind": "call",
            "position": row.position,
            "id": part["id"],
            "tool": part["name"],
            **self.names.named(part["name"]),  # type: ignore[typeddict-item]
            "arguments": dict(part.get("arguments") or {}),
            "outcome": "running",
            "ms": 0.0,
            "text": "",
            "chars": 0,
            "whole": None,
            "images": [],
            "by_hand": by_hand,
            "rule": "",
        }
        self.calls[item["id"]] = item
        turn["items"].append(cast("TurnItem", item))
        return item

    def _answer(self, answer: Json) -> None:
        item = self.calls.get(answer["id"])
        if item is None:
            return
        text, whole, _ = read_text(answer["parts"])
        item["outcome"] = answer.get("outcome", "ok")
        item["ms"] = answer.get("ms", 0.0)
        item["rule"] = answer.get("rule", "")
        item["text"], item["chars"], item["whole"] = text[:PREVIEW], len(text), whole
        item["images"] = [
            {"mime": part["mime"], "bytes": len(part["data"]) * 3 // 4}
            for part in answer["parts"]
            if part["type"] == "image"
        ]

    def _by_hand(self, row: Row) -> None:
        body = row.body
        call = body.get("call") or body
        self._call(self._turn(row), call, row, by_hand=True)
        if body.get("answer"):
            self._answer(body["answer"])

    def _remark(self, row: Row) -> None:
        turn = self._turn(row)
        note = "stopped" if row.body["kind"] == "stopped" else "failed"
        turn["ending"] = "stopped" if note == "stopped" else "failed"
        self._note(row, note, str(row.body.get("text", "")))

    def _note(self, row: Row, note: str, text: str) -> None:
        item = {"kind": "note", "position": row.position, "note": note, "text": text, "time": row.time}
        self._turn(row)["items"].append(cast("NoteItem", item))

    def _took(self, row: Row) -> None:
        turn, body = self._turn(row), row.body
        turn["ending"] = body.get("ending")
        turn["model"] = str(body.get("model") or turn["model"])
        turn["usage"] = _sum(turn["usage"], body.get("usage"))
        costs = [one for one in (turn["cost"], body.get("cost")) if one is not None]
        turn["cost"] = round(sum(costs), 6) if costs else None


def turns_of(rows: Sequence[Row], names: Names, of: int) -> list[ChatTurn]:
    """The turns of a chat; one without an ending was interrupted, and so were its calls without an answer."""
    build = _Build(names, of)
    for row in rows:
        build.take(row)
        if build.turns:
            build.turns[-1]["until"] = row.position + 1
    for item in build.calls.values():
        if item["outcome"] == "running":
            item["outcome"] = "interrupted"
            item["text"], item["chars"] = INTERRUPTED, len(INTERRUPTED)
    for turn in build.turns:
        if turn["ending"] is None:
            turn["ending"] = "answered" if _was_answered(turn, rows) else "interrupted"
    return build.turns


def _was_answered(turn: ChatTurn, rows: Sequence[Row]) -> bool:
    """Whether a turn without a noted ending has its whole answer: it was killed just after, or is old."""
    own = [item for item in turn["items"] if not (item["kind"] == "call" and item["by_hand"])]
    if turn["question"] is None and not own:
        return True
    whole = {row.position for row in rows if row.kind == "said"}
    return bool(own) and own[-1]["kind"] == "text" and own[-1]["position"] in whole


def _sum(before: TokenUsage | None, more: TokenUsage | None) -> TokenUsage | None:
    """What a turn took: a continued one has several parts."""
    if before is None or more is None:
        return before or more
    return cast("TokenUsage", {key: before[key] + more[key] for key in before})  # type: ignore[literal-required]


def whole_call(rows: Sequence[Row], call: str) -> CallWhole:
    """Everything that one call answered; raises `NotFound`."""
    asked: Json | None = None
    kept = {row.body["name"]: str(row.body["text"]) for row in rows if row.kind == "kept"}
    for row in rows:
        parts, answers = _calls_in(row)
        asked = next((part for part in parts if part["id"] == call), asked)
        answer = next((one for one in answers if one["id"] == call), None)
        if answer is not None and asked is not None:
            text, _, name = read_text(answer["parts"])
            return {
                "id": call,
                "tool": asked["name"],
                "arguments": dict(asked.get("arguments") or {}),
                "outcome": answer.get("outcome", "ok"),
                "ms": answer.get("ms", 0.0),
                "text": text,
                "whole": kept.get(name) if name else None,
                "images": pictures(answer["parts"]),
            }
    raise NotFound(f"No call {call!r} has answered in this chat.", hint="It may still be running.")


def _calls_in(row: Row) -> tuple[list[Json], list[Json]]:
    if row.kind == "by_hand":
        call = row.body.get("call") or row.body
        return [call], [row.body["answer"]] if row.body.get("answer") else []
    if row.kind != "said":
        return [], []
    parts = [part for part in row.body.get("parts", ()) if part["type"] == "call"]
    return parts, list(row.body.get("answers", ()))


def read_text(parts: Sequence[Json]) -> tuple[str, int | None, str | None]:
    """What a tool said, without our marks; how long it is in truth and where the whole is kept, if cut."""
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    cut = _CUT.search(text)
    if cut is None:
        return plain(text), None, None
    return plain(text[: cut.start()]), int(cut[1].replace(",", "")), cut[2]


def pictures(parts: Sequence[Json]) -> list[PictureData]:
    """The pictures among the parts of a message."""
    return [{"mime": part["mime"], "data": part["data"]} for part in parts if part["type"] == "image"]


def _new_turn(row: Row, of: int) -> ChatTurn:
    return {
        "position": row.position,
        "until": row.position + 1,
        "time": row.time,
        "question": None,
        "offered": [],
        "of": of,
        "note": "",
        "items": [],
        "model": "",
        "ending": None,
        "usage": None,
        "cost": None,
    }

"""A chat as JSON and as Markdown, to be kept, read and handed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from toolcrib.agent.chat import Chat, ChatInfo, Kept
from toolcrib.agent.entry_json import entry_json
from toolcrib.agent.events import TurnEnded
from toolcrib.agent.results import plain

_LONGEST = 4000
_REMARKS = {"stopped": "*Stopped.*", "failed": "*Failed:*", "notice": "*Notice:*"}
_ENDINGS = {
    "cut": "*The answer was cut off by the output limit of the model.*",
    "refused": "*The model refused to answer.*",
    "filtered": "*The vendor's filter ended the answer.*",
}
_INTERRUPTED = "*(The answer was interrupted here.)*"
Json = dict[str, Any]


def answer_json(ended: TurnEnded) -> Json:
    """An answer and what it took."""
    return {
        "answer": ended.answer,
        "rounds": ended.rounds,
        "calls": [
            {"tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "ms": call.ms}
            for call in ended.calls
        ],
        "usage": {**asdict(ended.usage), "cost": ended.cost},
        "ending": ended.ending,
        "model": ended.model,
        "chat": ended.chat,
    }


def chat_info_json(info: ChatInfo) -> Json:
    """A chat in a list."""
    return {
        "id": info.id,
        "title": info.title,
        "model": info.model,
        "created": _moment(info.created),
        "updated": _moment(info.updated),
        "parent": info.parent,
        "entries": info.entries,
    }


def chat_json(chat: Chat) -> Json:
    """A whole chat; of results that were cut, what the model was shown. Positions are those in the store."""
    shown = [
        {"position": position, **_entry_json(chat, position)}
        for position, entry in enumerate(chat.entries)
        if not isinstance(entry, Kept)
    ]
    took = chat.took()
    return {
        **chat_info_json(chat.info),
        "entries": shown,
        "pinned": list(chat.info.pinned),
        "banned": list(chat.info.banned),
        "usage": {**asdict(took.usage), "cost": took.cost},
    }


def _entry_json(chat: Chat, position: int) -> Json:
    kind, body = entry_json(chat.entries[position])
    time = _moment(chat.times[position]) if position < len(chat.times) else None
    return {"kind": kind, "time": time, **body}


def as_markdown(chat: Chat | Mapping[str, Any]) -> str:
    """The whole chat, or what `chat_json` made of it, for people."""
    shown = chat_json(chat) if isinstance(chat, Chat) else chat
    parts = [
        f"# {shown['title'] or shown['id']}",
        f"{shown['model']}, {shown['created'][:16].replace('T', ' ')}",
    ]
    for entry in shown["entries"]:
        parts += _entry(entry)
    return "\n\n".join(parts)


def _entry(entry: Mapping[str, Any]) -> list[str]:
    if entry["kind"] == "said":
        return _said(entry)
    if entry["kind"] == "by_hand":
        return ["*By hand:*", _part(entry["call"]), _answer(entry["answer"])]
    if entry["kind"] == "summary":
        return ["*The talk before this was shortened for the model.*"]
    if entry["kind"] == "took":
        return [_ENDINGS[entry["ending"]]] if entry["ending"] in _ENDINGS else []
    if entry["kind"] == "partial":
        return ["## Answer", str(entry["text"]), _INTERRUPTED]
    if entry["kind"] == "continued":
        return ["*Continued:*"]
    if entry["kind"] in _REMARKS:
        return [f"{_REMARKS[entry['kind']]} {entry['text']}"]
    return []


def _said(message: Mapping[str, Any]) -> list[str]:
    if message["from"] == "tools":
        return [_answer(answer) for answer in message["answers"]]
    heading = "## Question" if message["from"] == "person" else "## Answer"
    parts = [text for part in message["parts"] if (text := _part(part))]
    return [heading, *parts] if parts else []


def _part(part: Mapping[str, Any]) -> str:
    if part["type"] == "text":
        return str(part["text"])
    if part["type"] == "image":
        return f"*(a picture, {part['mime']})*"
    if part["type"] == "call":
        return f"Calls `{part['name']}`:\n\n```json\n{json.dumps(part['arguments'], indent=2)}\n```"
    return ""


def _answer(answer: Mapping[str, Any]) -> str:
    text = plain("\n".join(part.get("text", "(a picture)") for part in answer["parts"]))[:_LONGEST]
    fence = "````" if "```" in text else "```"
    return f"`{answer['name']}` ({answer['outcome']}, {answer['ms']:g} ms):\n\n{fence}\n{text}\n{fence}"


def _moment(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")

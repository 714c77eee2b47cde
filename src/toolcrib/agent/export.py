"""Exports a chat as JSON and as Markdown: the fields, the heading, the usage and cost. The texts of the turns
are in `chats/markdown.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from toolcrib.agent.chat import Chat, ChatMetadata, FullResult
from toolcrib.agent.entry_json import entry_json
from toolcrib.agent.events import TurnEnded
from toolcrib.chats.markdown import turns_markdown
from toolcrib.chats.replay import REMARKS, StoredEntry, replay
from toolcrib.schema.json_values import moment
from toolcrib.schema.messages import Usage

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AnswerUsage(Usage):
    """Tokens as counted by the vendor; `cost` is in dollars, None if the price is unknown."""

    cost: float | None


def answer_json(ended: TurnEnded) -> Json:
    return {
        "answer": ended.answer,
        "rounds": ended.rounds,
        "calls": [
            {"tool": call.tool, "arguments": call.arguments, "outcome": call.outcome, "ms": call.ms}
            for call in ended.calls
        ],
        "usage": AnswerUsage(**vars(ended.usage), cost=ended.cost),
        "ending": ended.ending,
        "model": ended.model,
        "chat": ended.chat,
    }


def chat_info_json(info: ChatMetadata) -> Json:
    return {
        "id": info.id,
        "title": info.title,
        "model": info.model,
        "created": moment(info.created),
        "updated": moment(info.updated),
        "parent": info.parent,
        "entries": info.entries,
    }


def chat_json(chat: Chat) -> Json:
    """A whole chat; cut results as shown to the model. Positions are those in the store."""
    shown = [
        {"position": position, **_entry_json(chat, position)}
        for position, entry in enumerate(chat.entries)
        if not isinstance(entry, FullResult)
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
    time = moment(chat.times[position]) if position < len(chat.times) else None
    return {"kind": kind, "time": time, **body}


def as_markdown(chat: Chat | Mapping[str, Any]) -> str:
    """The whole chat, or the JSON that `chat_json` makes of it, for readers."""
    shown = chat_json(chat) if isinstance(chat, Chat) else chat
    head = [
        f"# {shown['title'] or shown['id']}",
        f"{shown['model']}, {shown['created'][:16].replace('T', ' ')}",
    ]
    turns = replay([_stored(entry) for entry in shown["entries"]])
    return "\n\n".join(head + turns_markdown(turns))


def _stored(entry: Mapping[str, Any]) -> StoredEntry:
    """An entry of the JSON; the kind of a remark stands in the place of `remark`."""
    kind = "remark" if entry["kind"] in REMARKS else entry["kind"]
    return StoredEntry(position=entry["position"], time=entry["time"], kind=kind, body=entry)

"""The `--json` of answers, chats and models, one function for each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolcrib.agent.chat import Chat, ChatInfo, Kept
from toolcrib.agent.entry_json import entry_json
from toolcrib.agent.events import TurnEnded
from toolcrib.control.shapes import moment
from toolcrib.llm.advice import Offer


def answer_json(ended: TurnEnded) -> dict[str, Any]:
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


def chat_info_json(info: ChatInfo) -> dict[str, Any]:
    """A chat in a list."""
    return {
        "id": info.id,
        "title": info.title,
        "model": info.model,
        "created": moment(info.created),
        "updated": moment(info.updated),
        "parent": info.parent,
        "entries": info.entries,
    }


def chat_json(chat: Chat) -> dict[str, Any]:
    """A whole chat; of results that were cut, what the model was shown."""
    kinds = [entry_json(entry) for entry in chat.entries if not isinstance(entry, Kept)]
    shown = [{"kind": kind, **body} for kind, body in kinds]
    return {**chat_info_json(chat.info), "entries": shown}


def models_json(chosen: str | None, offers: list[Offer]) -> dict[str, Any]:
    """What there is to ask."""
    return {"model": chosen, "vendors": [asdict(offer) for offer in offers]}

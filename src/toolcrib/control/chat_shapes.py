"""The `--json` of answers, chats and models, one function for each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolcrib.agent.export import answer_json, chat_info_json, chat_json
from toolcrib.llm.advice import Offer

__all__ = ["answer_json", "chat_info_json", "chat_json", "models_json"]


def models_json(chosen: str | None, offers: list[Offer]) -> dict[str, Any]:
    """What there is to ask."""
    return {"model": chosen, "vendors": [asdict(offer) for offer in offers]}

"""The `--json` of answers, chats and models, one function for each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolcrib.agent.export import answer_json, chat_info_json, chat_json
from toolcrib.control.shapes import moment
from toolcrib.llm.advice import Offer
from toolcrib.llm.trial import LastTrial, Trials

__all__ = ["answer_json", "chat_info_json", "chat_json", "models_json"]


def models_json(chosen: str | None, offers: list[Offer], trials: Trials) -> dict[str, Any]:
    """What there is to ask."""
    vendors = [{**asdict(offer), "tried": _trial_json(trials.of(offer.vendor))} for offer in offers]
    return {"model": chosen, "vendors": vendors}


def _trial_json(last: LastTrial | None) -> dict[str, Any] | None:
    return None if last is None else {**asdict(last), "at": moment(last.at)}

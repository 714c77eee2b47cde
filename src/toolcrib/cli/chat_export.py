"""A chat as Markdown, to be read by people and other programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.agent.results import plain

_LONGEST = 4000
_REMARKS = {"stopped": "*Stopped.*", "failed": "*Failed:*"}


def as_markdown(chat: Mapping[str, Any]) -> str:
    """The whole chat."""
    parts = [f"# {chat['title'] or chat['id']}", f"{chat['model']}, {chat['created'][:16].replace('T', ' ')}"]
    for entry in chat["entries"]:
        parts += _entry(entry)
    return "\n\n".join(parts)


def _entry(entry: Mapping[str, Any]) -> list[str]:
    if entry["kind"] == "said":
        return _said(entry)
    if entry["kind"] == "summary":
        return ["*The talk before this was shortened for the model.*"]
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

"""Turns a tool's result into message parts for the model: marked as data, and cut if long. Limits the
pictures, and has the notes for pictures and other content that the model cannot see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.prompt import READ
from toolcrib.chats.result_text import cut_note, marked
from toolcrib.errors import ToolcribError
from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.schema.messages import Image, Text
from toolcrib.schema.tools import ToolResult

MOST_PICTURES = 8
LONGEST_KEPT = 2_000_000
"""Characters of a cut result that are stored."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A result as a model gets it."""

    parts: tuple[Text | Image, ...]
    whole: str | None = None
    """The full text, if it was cut."""
    unseen: int = 0
    """Pictures left out because the model does not support them."""


def show(tool: str, result: ToolResult, *, limit: int, name: str, images: bool) -> Shown:
    """A tool's result; `name` identifies the full text if it was cut."""
    text, pictures = _read(result, images)
    unseen = 0 if images else sum(_is_picture(block) for block in _blocks(result))
    cut = len(text) > limit
    visible = text[:limit] if cut else text
    words = marked(tool, visible, "error" if result.get("isError") else "")
    whole = text[:LONGEST_KEPT] if cut else None
    if whole is not None:
        words += cut_note(limit, len(text), kept=len(whole), name=name, read_tool=READ)
    return Shown(parts=(Text(words), *pictures), whole=whole, unseen=unseen)


def show_error(tool: str, error: ToolcribError, outcome: str) -> tuple[Text, ...]:
    return (Text(marked(tool, f"{error.message}\n{error.hint}".strip(), outcome)),)


def unseen_pictures(count: int, tool: str) -> str:
    """The notice for pictures that the model cannot see."""
    what = "a picture" if count == 1 else f"{count} pictures"
    return f"The model cannot see {what} from {tool}; it gets a note instead."


def _blocks(result: ToolResult) -> list[Mapping[str, Any]]:
    content = result.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


def _is_picture(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "image"


def _read(result: ToolResult, images: bool) -> tuple[str, list[Image]]:
    words: list[str] = []
    pictures: list[Image] = []
    for block in _blocks(result):
        found = _picture(block) if images and _is_picture(block) else None
        if isinstance(found, Image) and len(pictures) < MOST_PICTURES:
            pictures.append(found)
        elif isinstance(found, NoPicture):
            words.append(f"(A picture was here. It is left out: {found.why}.)")
        else:
            words.append(_words(block))
    if not any(words) and not pictures and result.get("structuredContent") is not None:
        words.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    text = "\n".join(word for word in words if word)
    if not text and pictures:
        text = f"({len(pictures)} pictures)" if len(pictures) > 1 else "(a picture)"
    return text or "(nothing)", pictures


def _picture(block: Mapping[str, Any]) -> Image | NoPicture:
    data = block.get("data")
    if not isinstance(data, str):
        return NoPicture("it has no data")
    return checked(data, str(block.get("mimeType") or ""))


def _words(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind in ("image", "audio"):
        size = len(str(block.get("data", ""))) * 3 // 4
        return f"({kind} of {size:,} bytes, {block.get('mimeType', 'unknown')}, which you cannot see or hear)"
    if kind == "resource_link":
        return f"({block.get('name') or 'link'}: {block.get('uri', '')})"
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, Mapping):
        return str(resource.get("text") or f"(file {resource.get('uri', '')})")
    return json.dumps(dict(block), ensure_ascii=False)

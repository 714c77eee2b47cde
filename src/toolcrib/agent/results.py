"""Turns what a tool returned into what a model is shown: marked as data, cut where it is long."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.agent.prompt import READ
from toolcrib.errors import ToolcribError
from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.schema.messages import Image, Text
from toolcrib.schema.tools import ToolResult

MOST_PICTURES = 8
LONGEST_KEPT = 2_000_000
_WHOLE_MARK = re.compile(r"<tool_result[^>]*>\n|\n</tool_result>")
_MARK = re.compile(r"<(/?)tool_result", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A result as a model sees it."""

    parts: tuple[Text | Image, ...]
    whole: str | None = None
    """All of the text, when only a part is shown."""
    unseen: int = 0
    """Pictures that were left out because the model cannot see."""


def show(tool: str, result: ToolResult, *, limit: int, name: str, images: bool) -> Shown:
    """The result of a tool; `name` is what the rest is kept under when it is cut."""
    text, pictures = _read(result, images)
    unseen = 0 if images else sum(_is_picture(block) for block in _blocks(result))
    cut = len(text) > limit
    visible = text[:limit] if cut else text
    words = marked(tool, visible, "error" if result.get("isError") else "")
    if cut:
        words += (
            f"\n(Cut: {limit:,} of {len(text):,} characters are shown."
            f' Read on with {READ} and {{"name": "{name}", "offset": {limit}}}.)'
        )
    return Shown(parts=(Text(words), *pictures), whole=text[:LONGEST_KEPT] if cut else None, unseen=unseen)


def show_error(tool: str, error: ToolcribError, outcome: str) -> tuple[Text, ...]:
    """An error as a model is told of it."""
    return (Text(marked(tool, f"{error.message}\n{error.hint}".strip(), outcome)),)


def marked(tool: str, text: str, outcome: str = "") -> str:
    """Text from outside between marks that say so."""
    how = f' outcome="{outcome}"' if outcome else ""
    return f'<tool_result tool="{tool}"{how}>\n{harmless(text)}\n</tool_result>'


def harmless(text: str) -> str:
    """Text that cannot close the mark around it."""
    return _MARK.sub(r"<\1tool-result", text)


def plain(text: str) -> str:
    """What a person is shown of it: without the marks."""
    return _WHOLE_MARK.sub("", text)


def unseen_pictures(count: int, tool: str) -> str:
    """What a user is told of pictures that the model cannot see."""
    what = "a picture" if count == 1 else f"{count} pictures"
    return f"The model cannot see {what} from {tool}; it was told so in words."


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
        return f"({kind} of {size:,} bytes, {block.get('mimeType', 'unknown')}, which you cannot perceive)"
    if kind == "resource_link":
        return f"({block.get('name') or 'link'}: {block.get('uri', '')})"
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, Mapping):
        return str(resource.get("text") or f"(file {resource.get('uri', '')})")
    return json.dumps(dict(block), ensure_ascii=False)

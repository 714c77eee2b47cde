"""The content of a tool's result as values: text, data and the ids of stored pictures; largest picture, and
the error of a failed tool.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.errors import CallFailed
from toolcrib.graph.node_type import NodeCall, NodeContext
from toolcrib.schema.tools import ToolResult

LONGEST_REASON = 2000
LARGEST_PICTURE = 20_000_000
"""Characters of base64."""


class ToolFailed(CallFailed):
    """The tool answered with an error."""

    kind = "tool_failed"


@dataclass(frozen=True, kw_only=True)
class ToolContent:
    text: str
    data: Any
    """The structured content, or the text as JSON if it is an object or a list; else None."""
    pictures: tuple[str, ...]
    """Ids of artifacts."""


async def call_tool(context: NodeContext, use: NodeCall) -> ToolContent:
    """Call a tool and read its result; raises `ToolFailed` if the tool reports an error."""
    result = await context.call(use)
    if result.get("isError") is True:
        raise ToolFailed(
            _reason(result, use), hint="Connect the output “on error” of the step to handle this."
        )
    text = "\n".join(_texts(result))
    return ToolContent(text=text, data=_data(result, text), pictures=tuple(_pictures(result, context)))


def _reason(result: ToolResult, use: NodeCall) -> str:
    text = "\n".join(_texts(result)).strip()[:LONGEST_REASON]
    return text or f"{use.tool} failed without saying why."


def _data(result: ToolResult, text: str) -> Any:
    structured = result.get("structuredContent")
    return read_json(text) if structured is None else structured


def read_json(text: str) -> Any:
    """The value of a text that is a JSON object or list; else None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _blocks(result: ToolResult, kind: str) -> Iterator[Mapping[str, Any]]:
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == kind:
            yield block


def _texts(result: ToolResult) -> Iterator[str]:
    return (block["text"] for block in _blocks(result, "text") if isinstance(block.get("text"), str))


def _pictures(result: ToolResult, context: NodeContext) -> Iterator[str]:
    for block in _blocks(result, "image"):
        data, media_type = block.get("data"), block.get("mimeType")
        if not isinstance(data, str) or len(data) > LARGEST_PICTURE:
            continue
        try:
            picture = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            continue
        yield context.keep(picture, media_type if isinstance(media_type, str) else "image/png")

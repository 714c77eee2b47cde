"""The agent's own tools for a model: search for tools, and read the rest of a long result. Has their
descriptions, result texts and limits (results of a search, length of a description).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.agent.chat import Chat
from toolcrib.agent.ports import FoundTool
from toolcrib.agent.prompt import READ, SEARCH
from toolcrib.agent.results import LONGEST_KEPT
from toolcrib.errors import InvalidArguments
from toolcrib.schema.tools import Tool, ToolDefinition, ToolResult

DEFAULT_LIMIT = 5
MOST = 20
_LONGEST_DESCRIPTION = 300

_SEARCH: dict[str, Any] = {
    "name": SEARCH,
    "description": (
        "Find more tools: files, web, mail, calendars, code, databases and anything else that is connected."
        " Tools that are found can be called afterwards."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": 'What you want to do, in a few words: "create a calendar event".',
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST,
                "description": "Maximum number of tools.",
            },
        },
        "required": ["query"],
    },
}
_READ: dict[str, Any] = {
    "name": READ,
    "description": "Read more of a tool's result, or of an attached file, that was cut.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name given in the note where it was cut."},
            "offset": {"type": "integer", "minimum": 0, "description": "The first character to read."},
            "length": {"type": "integer", "minimum": 1, "description": "Maximum number of characters."},
        },
        "required": ["name", "offset"],
    },
}


def _tool(raw: dict[str, Any]) -> Tool:
    definition = ToolDefinition(name=raw["name"], raw=raw)
    return Tool(
        name=raw["name"], server=None, origin="native", definition=definition, hash=raw["name"], tokens=120
    )


SEARCH_TOOL = _tool(_SEARCH)
READ_TOOL = _tool(_READ)
NAMES = frozenset({SEARCH, READ})


def found_result(found: list[FoundTool], total: int) -> ToolResult:
    listed = [
        {"name": hit.tool.name, "description": hit.tool.definition.description[:_LONGEST_DESCRIPTION]}
        for hit in found
    ]
    note = "They can be called now." if listed else f"None of {total} tools matches. Try other words."
    return _text(json.dumps({"tools": listed, "note": note}, ensure_ascii=False))


def search_arguments(arguments: Mapping[str, Any]) -> tuple[str, int]:
    """The query and the limit; raises `InvalidArguments`."""
    query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
    if not isinstance(query, str) or not query.strip():
        raise InvalidArguments(f"{SEARCH}: query must be a text.")
    return query, max(1, min(MOST, limit)) if isinstance(limit, int) else DEFAULT_LIMIT


def read_on(chat: Chat, arguments: Mapping[str, Any], limit: int) -> ToolResult:
    """A part of a result that was cut; raises `InvalidArguments`."""
    name, offset, length = arguments.get("name"), arguments.get("offset", 0), arguments.get("length", limit)
    whole = chat.kept(name) if isinstance(name, str) else None
    if whole is None:
        raise InvalidArguments(
            f"{READ}: there is no result or file named {name!r}.",
            hint="Use the name from the note where it was cut.",
        )
    if not isinstance(offset, int) or not isinstance(length, int) or offset < 0 or length < 1:
        raise InvalidArguments(f"{READ}: offset and length must be whole numbers.")
    end = min(len(whole), offset + min(length, limit))
    if end >= len(whole):
        rest = " The rest was not kept." if len(whole) >= LONGEST_KEPT else ""
        note = f"(End of the result.{rest})"
    else:
        note = f"({end:,} of {len(whole):,} characters read; continue with offset {end}.)"
    return _text(f"{whole[offset:end]}\n{note}")


def _text(text: str) -> ToolResult:
    return {"content": [{"type": "text", "text": text}]}

"""The definitions of the three search tools, written for models: names, descriptions, parameters, default and
maximum number of results."""

from __future__ import annotations

from typing import Any

SEARCH = "search_tools"
DESCRIBE = "describe_tool"
CALL = "call_tool"

DEFAULT_LIMIT = 5
MAX_RESULTS = 50

_FOUND = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "server": {"type": ["string", "null"]},
        "description": {"type": "string"},
        "score": {"type": "number"},
    },
    "required": ["name", "server", "description", "score"],
}

_SEARCH_TOOLS: dict[str, Any] = {
    "name": SEARCH,
    "title": "Search tools",
    "description": (
        "Find the tools for a task among many more than are listed here: files, web, mail, calendars, code,"
        " databases and whatever else is connected. Search before saying that something cannot be done."
        " Returns the names and short descriptions of the tools that fit best, the best first."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": (
                    "What is to be done, in a few plain words, with the service where it matters:"
                    ' "create a calendar event", "github list open pull requests".'
                    " Several tasks may stand together, joined by `and`."
                ),
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_RESULTS,
                "default": DEFAULT_LIMIT,
                "description": "How many tools to return at most.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "tools": {"type": "array", "items": _FOUND},
            "searched": {"type": "integer", "description": "How many tools there are."},
            "note": {"type": "string", "description": "Why the search is not as good as it could be."},
        },
        "required": ["tools", "searched"],
    },
    "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
}

_DESCRIBE_TOOL: dict[str, Any] = {
    "name": DESCRIBE,
    "title": "Describe a tool",
    "description": (
        f"Get the whole definition of a tool that {SEARCH} found: its full description and the JSON Schema of"
        f" its arguments (`inputSchema`). Do this before the first {CALL} of a tool."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": f"The tool's name, exactly as {SEARCH} returned it."}
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
}

_CALL_TOOL: dict[str, Any] = {
    "name": CALL,
    "title": "Call a tool",
    "description": (
        f"Call a tool that {SEARCH} found and return its result. What it does depends on that tool alone:"
        " it may change or delete things."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": f"The tool's name, exactly as {SEARCH} returned it."},
            "arguments": {
                "type": "object",
                "description": f"Its arguments, by the `inputSchema` that {DESCRIBE} shows.",
                "additionalProperties": True,
            },
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}

NAMES = frozenset({SEARCH, DESCRIBE, CALL})


def definitions(limit: int = DEFAULT_LIMIT) -> list[dict[str, Any]]:
    """The three definitions, with the default number of results."""
    schema = _SEARCH_TOOLS["inputSchema"]
    properties = {
        **schema["properties"],
        "limit": {**schema["properties"]["limit"], "default": limit},
    }
    search = {**_SEARCH_TOOLS, "inputSchema": {**schema, "properties": properties}}
    return [search, _DESCRIBE_TOOL, _CALL_TOOL]

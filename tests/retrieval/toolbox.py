"""Small hand-written tools to search."""

from __future__ import annotations

import json
from typing import Any

from toolcrib.schema.tools import Tool, ToolDefinition


def tool(
    server: str | None, name: str, description: str = "", *, enabled: bool = True, **parameters: str
) -> Tool:
    """A tool of a server; `parameters` are names and descriptions."""
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    return raw_tool(
        server,
        {
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": properties},
        },
        enabled=enabled,
    )


def raw_tool(server: str | None, raw: dict[str, Any], *, enabled: bool = True) -> Tool:
    """A tool with any definition."""
    return Tool(
        name=f"{server}__{raw['name']}" if server else raw["name"],
        server=server,
        origin="mcp" if server else "native",
        definition=ToolDefinition(name=raw["name"], raw=raw),
        hash=json.dumps(raw, sort_keys=True),
        tokens=1,
        enabled=enabled,
    )


WORKSHOP = (
    tool("github", "create_issue", "Open a new issue in a repository.", title="Title of the issue."),
    tool("github", "list_pull_requests", "List the pull requests of a repository.", state="open or closed"),
    tool("github", "mergePullRequest", "Merge a pull request."),
    tool("calendar", "create-event", "Put an event into the calendar.", attendees="Who is invited."),
    tool("calendar", "list_events", "Show what is planned between two dates."),
    tool("mail", "send_message", "Send an e-mail.", recipient="The address to send it to."),
    tool("weather", "get_forecast", "Tell the weather of the coming days.", city="Where."),
    tool("files", "read_file", "Read a text file."),
    tool(None, "word_count", "Count the words of a text."),
)

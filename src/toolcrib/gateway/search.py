"""Search mode: a client sees three tools instead of a thousand, and finds the others with them. Formats their
results ("No tools found for") and errors; their definitions are in `search_definitions.py`.

They show and call only tools that the profile shows, and calls go the usual way. A wrong request becomes a
result that the model can read and act on.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from toolcrib.errors import InvalidArguments, ToolcribError, UnknownTool, UsageError
from toolcrib.gateway.search_definitions import (
    CALL,
    DEFAULT_LIMIT,
    DESCRIBE,
    MAX_RESULTS,
    NAMES,
    SEARCH,
    definitions,
)
from toolcrib.retrieval import EmbeddingService, Finder, Pick
from toolcrib.schema.tools import Tool, ToolResult
from toolcrib.suggestions import did_you_mean
from toolcrib.tools.names import other_spelling
from toolcrib.tools.results import as_result

CallTool = Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
"""Calls a tool by its public name."""

_MAX_LINE = 240
_MAX_SERVERS = 60
_MAX_COMPARED = 2000


class SearchMode:
    """The three tools, over the tools that `visible` returns at the time of each call.

    A search returns `limit` tools by default. Tools whose public name matches a pattern of `always_on` are
    listed besides the three. `held` returns why a tool is held, if it is;
    `unchecked` says which tools cannot be found yet.
    """

    def __init__(
        self,
        visible: Callable[[], Sequence[Tool]],
        *,
        limit: int = DEFAULT_LIMIT,
        always_on: Sequence[str] = (),
        meaning: EmbeddingService | None = None,
        held: Callable[[str], ToolcribError | None] = lambda name: None,
        unchecked: Callable[[], str] = lambda: "",
    ) -> None:
        self._visible = visible
        self._held = held
        self._unchecked = unchecked
        self._limit = min(limit, MAX_RESULTS)
        self._always_on = tuple(always_on)
        self._own = definitions(self._limit)
        self._finder = Finder(meaning)

    def definitions(self) -> list[dict[str, Any]]:
        """The three tools, then those that are always on."""
        if not self._always_on:
            return list(self._own)
        return [*self._own, *(_definition(tool) for tool in self._visible() if self._is_always_on(tool))]

    async def call(self, name: str, arguments: Mapping[str, Any], call_tool: CallTool) -> ToolResult | None:
        """The result of one of the three; None for another name.

        Errors of `call_tool` are raised, except for wrong use.
        """
        try:
            if name == SEARCH:
                return await self._search(_text(arguments, "query"), self._read_limit(arguments))
            if name == DESCRIBE:
                return _described(self._find(_text(arguments, "name")))
            if name == CALL:
                tool = self._find(_text(arguments, "name"))
                return await call_tool(tool.name, _inner_arguments(arguments))
        except (UsageError, UnknownTool) as error:
            return as_result(error)
        return None

    def _is_always_on(self, tool: Tool) -> bool:
        return tool.name not in NAMES and any(fnmatchcase(tool.name, pattern) for pattern in self._always_on)

    async def _search(self, query: str, limit: int) -> ToolResult:
        await self._finder.follow(self._visible)
        selection = await self._finder.select(query, limit)
        picks = selection.picks
        text = _listed(picks) if picks else _nothing(query, self._visible())
        found = [_row(pick) for pick in picks]
        note = " ".join(filter(None, (selection.note, self._unchecked())))
        if unchecked := self._unchecked():
            text = f"{text}\n\n{unchecked}"
        return {
            "content": [{"type": "text", "text": text}],
            "structuredContent": {
                "tools": found,
                "searched": len(self._finder),
                **({"note": note} if note else {}),
            },
            "isError": False,
        }

    def _find(self, name: str) -> Tool:
        """The visible tool of this name, with or without the `mcp__` prefix; raises `UnknownTool`."""
        tools = {tool.name: tool for tool in self._visible()}
        found = tools.get(name) or tools.get(other_spelling(name))
        if found is not None:
            return found
        held = self._held(name)
        if held is not None:
            raise held
        same = [tool.name for tool in tools.values() if tool.definition.name == name]
        near = did_you_mean(name[:100], list(tools)[:_MAX_COMPARED], otherwise=f"Look for it with {SEARCH}.")
        hint = f"Did you mean {' or '.join(same[:3])}?" if same else near
        raise UnknownTool(f"Unknown tool: {name[:200]}.", hint=hint)

    def _read_limit(self, arguments: Mapping[str, Any]) -> int:
        limit = arguments.get("limit", self._limit)
        if isinstance(limit, float) and limit.is_integer():
            limit = int(limit)
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise InvalidArguments(
                f'"limit" must be a whole number from 1 to {MAX_RESULTS}.', hint="Or leave it out."
            )
        return min(limit, MAX_RESULTS)


def _text(arguments: Mapping[str, Any], key: str) -> str:
    text = arguments.get(key)
    if isinstance(text, str) and text.strip():
        return text.strip()
    raise InvalidArguments(f'"{key}" must be a text that is not empty.', hint=_EXPECTED[key])


_EXPECTED = {
    "query": "Say in a few words what is to be done, such as: create a calendar event",
    "name": f"Give the name of a tool as {SEARCH} shows it.",
}


def _inner_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    given = arguments.get("arguments")
    if isinstance(given, str):
        # Models sometimes write an object as a string.
        given = _read_json(given)
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    raise InvalidArguments('"arguments" must be an object.', hint=f"{DESCRIBE} shows what the tool takes.")


def _read_json(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else None
    except (ValueError, RecursionError):
        return text


def _definition(tool: Tool) -> dict[str, Any]:
    return {**tool.definition.raw, "name": tool.name}


def _described(tool: Tool) -> ToolResult:
    definition = _definition(tool)
    text = json.dumps(definition, ensure_ascii=False)
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": definition,
        "isError": False,
    }


def _row(pick: Pick) -> dict[str, Any]:
    tool = pick.tool
    return {
        "name": tool.name,
        "server": tool.server,
        "description": _one_line(tool.definition.description),
        "score": pick.score,
    }


def _listed(picks: Sequence[Pick]) -> str:
    rows = [
        f"{row['name']} ({row['score']:.1f}): {row['description']}".rstrip(": ") for row in map(_row, picks)
    ]
    advice = f"{DESCRIBE} shows what a tool takes, {CALL} calls it."
    return "\n".join([*rows, "", advice])


def _nothing(query: str, tools: Sequence[Tool]) -> str:
    servers = sorted({tool.server for tool in tools if tool.server})
    shown = ", ".join(servers[:_MAX_SERVERS]) + (" …" if len(servers) > _MAX_SERVERS else "")
    lines = [f"No tools found for: {_one_line(query)}", "Try other words."]
    return "\n".join([*lines, f"There are {len(tools)} tools, of these servers: {shown}"] if shown else lines)


def _one_line(text: str) -> str:
    """The first line with text, cut: a description must not look like several rows of the list."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    clean = " ".join("".join(char if char.isprintable() else " " for char in first[: 4 * _MAX_LINE]).split())
    return clean if len(clean) <= _MAX_LINE else clean[: _MAX_LINE - 1].rstrip() + "…"

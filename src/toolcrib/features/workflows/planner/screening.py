"""Leaves out descriptions of tools that try to direct a model; names and types of arguments remain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolcrib.features.workflows.doubts import Doubt
from toolcrib.schema.tools import Tool, ToolDefinition
from toolcrib.tools.scanner import scan

_MOST_KNOWN = 10_000
_known: dict[tuple[str, str, frozenset[str]], tuple[str, ...]] = {}
"""Findings by tool, definition and the names of all tools: a scan takes milliseconds."""


def screened(tools: Sequence[Tool], among: Sequence[Tool]) -> tuple[list[Tool], list[Doubt]]:
    """The tools as they can be shown to a model, and what was left out; `among` are all tools."""
    names = frozenset(name for tool in among for name in (tool.name, tool.definition.name))
    shown: list[Tool] = []
    doubts: list[Doubt] = []
    for tool in tools:
        found = _findings(tool, among, names)
        shown.append(_without_texts(tool) if found else tool)
        if found:
            message = f"The model did not see the description of {tool.name}: {found[0]}"
            doubts.append(Doubt(node=None, message=message))
    return shown, doubts


def _findings(tool: Tool, among: Sequence[Tool], names: frozenset[str]) -> tuple[str, ...]:
    key = (tool.name, tool.hash, names)
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        mine = [other for other in among if other.server == tool.server]
        own = {name for other in mine for name in (other.name, other.definition.name)}
        _known[key] = tuple(scan(tool.definition.raw, own=own, others=names - own))
    return _known[key]


def _without_texts(tool: Tool) -> Tool:
    raw = {**tool.definition.raw, "description": "", "inputSchema": _plain(tool.definition.input_schema)}
    raw.pop("outputSchema", None)
    return replace(tool, definition=ToolDefinition(name=tool.definition.name, raw=raw))


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The names and types of the arguments."""
    properties = schema.get("properties")
    types = (
        {name: _type(given) for name, given in properties.items()} if isinstance(properties, Mapping) else {}
    )
    return {"type": "object", "properties": types, "required": schema.get("required", [])}


def _type(schema: object) -> dict[str, Any]:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return {"type": kind} if isinstance(kind, str) else {}

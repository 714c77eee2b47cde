"""`tool_show`: everything that is known of one tool."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from toolcrib.control.answers.ranking import ToolDetails, ToolPart
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.control.shelf_shapes import PAGE, shelf_tool, would_say
from toolcrib.errors import UnknownTool
from toolcrib.host import Host
from toolcrib.schema.tools import Tool
from toolcrib.store.audit_search import CallFilter, count
from toolcrib.suggestions import did_you_mean

FOR_PAGES = True


class Params(OperationParams):
    """The public name."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The servers; those with a known tool list need not run."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ToolDetails:
    """Raises `UnknownTool`."""
    tool = known_tool(host, params.name)
    judgement = would_say(host, tool, PAGE)
    calls = await host.audit.look(partial(count, wanted=CallFilter(tools=[_exactly(tool.name)])))
    raw = tool.definition.raw
    output = raw.get("outputSchema")
    history = tool.history
    return {
        **shelf_tool(host, tool),
        "gate": judgement.decision,
        "reasons": list(judgement.reasons),
        "rule": judgement.rule,
        "origin": tool.origin,
        "inputSchema": dict(tool.definition.input_schema),
        "outputSchema": output if isinstance(output, dict) else None,
        "annotations": dict(tool.definition.annotations),
        "definition": _text(dict(raw)),
        "hash": tool.hash,
        "first_seen": moment(history.first_seen) if history else None,
        "last_changed": moment(history.last_changed) if history else None,
        "changes": list(history.changes) if history else [],
        "differences": _differences(host, tool),
        "calls": calls,
        "can_switch": tool.server is not None and tool.server in host.config.servers,
    }


def known_tool(host: Host, name: str) -> Tool:
    """The tool of this public name, whether it can be called or not; raises `UnknownTool`."""
    known = {tool.name: tool for tool in host.tool_catalog.tools()}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, otherwise="See which there are with: toolcrib tools")
    raise UnknownTool(f"There is no tool called {name}.", hint=hint)


def _differences(host: Host, tool: Tool) -> list[ToolPart]:
    approved = host.pins.approved(tool.server, tool.definition.name) if tool.server and tool.held else None
    if approved is None:
        return []
    raw = tool.definition.raw
    return [
        {"part": part, "before": _text(approved.get(part)), "after": _text(raw.get(part))}
        for part in dict.fromkeys([*approved, *raw])
        if approved.get(part) != raw.get(part)
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _exactly(name: str) -> str:
    """A pattern for just this name."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)

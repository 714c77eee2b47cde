"""Tools: list, show, find by words in their names (a similar word if none match), enable and disable, always
offer, change the timeout. Page size, and tools that cannot be changed."""

from __future__ import annotations

import asyncio
import glob
import heapq
import json
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from toolcrib.config.entries import LONGEST_TIMEOUT
from toolcrib.config.review import differences
from toolcrib.config.settings_file import change_settings
from toolcrib.config.tool_switches import set_tool_timeout, switch_tool
from toolcrib.errors import UnknownTool, UsageError
from toolcrib.host import Host
from toolcrib.operations.lookup import UP, check_server, not_up
from toolcrib.operations.operation import EVERYTHING, LAZY, Configured, Needs, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.tools import (
    PAGE,
    NearWord,
    ToolDetails,
    ToolInfo,
    ToolPart,
    ToolSet,
    ToolsFound,
    counted,
    decision_for,
    is_always_on,
    shelf_tool,
    tool_json,
)
from toolcrib.schema.json_values import moment
from toolcrib.schema.servers import ServerState
from toolcrib.schema.tools import Tool
from toolcrib.store.audit_search import CallFilter, count
from toolcrib.suggestions import did_you_mean

MAX_PAGE = 500
"""The most tools in one answer: some twenty milliseconds of work."""
AT_ONCE = 5000
"""Names compared before other tasks get their turn."""
MOST_COMPARED = 2000
"""Tools whose names are searched for a similar word."""


def _tools_needs(params: Any, configured: Configured) -> Needs:
    return EVERYTHING if params.server is None else Needs(servers=(params.server,))


class ToolsParams(OperationParams):
    """The server, whether to include disabled tools, and which page."""

    server: str | None = None
    disabled: bool = False
    wait: float = Field(default=20.0, ge=0, le=3600)
    limit: int = Field(default=MAX_PAGE, ge=1, le=MAX_PAGE)
    after: str = ""
    """The name of the last tool in the page before."""


@operation(page=True, needs=_tools_needs)
async def tools(host: Host, params: ToolsParams) -> list[ToolInfo]:
    """List all tools, or those of one server, by name, in pages; also those that are held for review.

    A page of fewer tools than `limit` is the last one.

    Raises `ServerNotReady` if the named server is not available.
    """
    if params.server is not None and not host.tools(params.server, disabled=True):
        check_server(host, params.server)
    await _settle(host, params)
    tools = host.tools(params.server, disabled=True)
    if not params.disabled:
        tools = [tool for tool in tools if tool.enabled or tool.in_review]
    if params.server is not None and not host.tools(params.server, disabled=True):
        _check_up(host, params.server)
    page, _ = _page((tool for tool in tools if tool.name > params.after), params.limit)
    return [tool_json(tool) for tool in page]


def _page(tools: Iterable[Tool], limit: int) -> tuple[list[Tool], bool]:
    """The first tools by name, and whether there are more."""
    first = heapq.nsmallest(limit + 1, tools, key=lambda tool: tool.name)
    return first[:limit], len(first) > limit


async def _settle(host: Host, params: ToolsParams) -> None:
    try:
        async with asyncio.timeout(params.wait):
            if params.server is None:
                await host.servers.settle()
            elif params.server in host.config.servers:
                await host.servers[params.server].settled()
    except TimeoutError:
        pass


def _check_up(host: Host, name: str) -> None:
    status = host.servers.status(name)
    if status.state not in (*UP, ServerState.DISABLED):
        raise not_up(status)


_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@operation(page=True, needs=LAZY)
async def find_tools(
    host: Host,
    *,
    words: Annotated[str, Field(max_length=400)] = "",
    server: str | None = None,
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = MAX_PAGE,
    after: str = "",
) -> ToolsFound:
    """Find tools by words in their names, in pages; suggests a word if none match.

    `after`: the name of the last tool in the page before.
    """
    catalog = await host.toolset.load_catalog()
    await catalog.read_remembered()
    tools = catalog.tools()
    terms = words.lower().split()
    found: list[Tool] = []
    for start in range(0, len(tools), AT_ONCE):
        portion = tools[start : start + AT_ONCE]
        found += [tool for tool in portion if server in (None, tool.server) and _matches(tool, terms)]
        await asyncio.sleep(0)
    page, more = _page((tool for tool in found if tool.name > after), limit)
    return {
        "tools": [shelf_tool(host, tool) for tool in page],
        "found": len(found),
        "more": more,
        "near": None if found else _near(terms, tools[:MOST_COMPARED]),
        **counted(host, tools),
    }


def _matches(tool: Tool, terms: Sequence[str]) -> bool:
    text = f"{tool.name} {tool.server or ''} {tool.definition.name}".lower()
    return all(term in text for term in terms)


def _near(terms: Sequence[str], tools: Sequence[Tool]) -> NearWord | None:
    """A word of the tool names that is similar to the first word without a match."""
    unmatched = next((term for term in terms if not any(_matches(tool, [term]) for tool in tools)), None)
    if unmatched is None:
        return None
    vocabulary = {part for tool in tools for part in _parts(tool)}
    near = get_close_matches(unmatched, vocabulary, n=1, cutoff=0.6)
    if not near:
        return None
    matching = [tool for tool in tools if near[0] in _parts(tool)]
    servers = sorted({tool.server for tool in matching if tool.server is not None})
    return {"word": near[0], "tools": len(matching), "servers": servers}


def _parts(tool: Tool) -> Iterable[str]:
    return [part.lower() for part in _PARTS.findall(f"{tool.definition.name} {tool.server or ''}")]


@operation(page=True, needs=LAZY)
async def tool_show(host: Host, name: str) -> ToolDetails:
    """Show everything known about a tool.

    Raises `UnknownTool`.
    """
    tool = known_tool(host, name)
    judgement = decision_for(host, tool, PAGE)
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
    """The tool with this public name, even if it cannot be called; raises `UnknownTool`."""
    known = {tool.name: tool for tool in host.toolset.catalog.tools()}
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, otherwise="List them with: toolcrib tools")
    raise UnknownTool(f"There is no tool called {name}.", hint=hint)


def _differences(host: Host, tool: Tool) -> list[ToolPart]:
    approved = (
        host.core.pins.approved(tool.server, tool.definition.name) if tool.server and tool.held else None
    )
    if approved is None:
        return []
    return [
        {"part": part, "before": _text(change["before"]), "after": _text(change["now"])}
        for part, change in differences(approved, tool.definition.raw).items()
    ]


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _exactly(name: str) -> str:
    """A pattern that matches only this name."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


@operation(page=True, needs=LAZY)
async def tool_set(
    host: Host,
    name: str,
    *,
    enabled: bool | None = None,
    always_on: bool | None = None,
    timeout: Annotated[float | None, Field(ge=0, le=LONGEST_TIMEOUT)] = None,
) -> ToolSet:
    """Enable or disable a tool, always offer it, or change its timeout, in the config file.

    Raises `UnknownTool`, or `UsageError` for what cannot be changed.
    `timeout`: seconds; 0 for that of its server.
    """
    tool = known_tool(host, name)
    if enabled is not None:
        await _switch(host, tool, enabled)
    if always_on is not None:
        await asyncio.to_thread(change_settings, host.core.config_store, _always_on(host, tool, always_on))
    if timeout is not None:
        _check_own(host, tool)
        store, own = host.core.config_store, tool.definition.name
        await asyncio.to_thread(set_tool_timeout, store, str(tool.server), own, timeout or None)
    await host.reload()
    tool = known_tool(host, name)
    entry = host.config.servers.get(tool.server or "")
    return {
        "name": tool.name,
        "enabled": tool.enabled,
        "always_on": is_always_on(host, tool),
        "timeout": None if entry is None else entry.tool_timeouts.get(tool.definition.name),
    }


async def _switch(host: Host, tool: Tool, on: bool) -> None:
    _check_own(host, tool)
    if tool.held and on:
        raise UsageError(
            f"The definition of {tool.name} changed and needs your approval.",
            hint=f"See what changed with: toolcrib trust {tool.server}",
        )
    await asyncio.to_thread(switch_tool, host.core.config_store, str(tool.server), tool.definition.name, on)


def _check_own(host: Host, tool: Tool) -> None:
    if tool.server is None or tool.server not in host.config.servers:
        raise UsageError(f"{tool.name} is built in and cannot be changed.")


def _always_on(host: Host, tool: Tool, on: bool) -> dict[str, object]:
    exact = glob.escape(tool.name)
    others = [name for name in host.settings.retrieval.always_on if name not in (exact, tool.name)]
    return {"retrieval.alwaysOn": [*others, exact] if on else others}

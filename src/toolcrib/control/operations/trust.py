"""`trust`: show what waits for a person's word, and take that word for exactly what was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from toolcrib.config.launch import differences, launch_of
from toolcrib.config.review import review_entry
from toolcrib.control.answers.servers import Difference, HeldTool, TrustAnswer, TrustShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.launching import mark_of
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.control.shapes import moment, server_json
from toolcrib.control.tool_findings import found_in
from toolcrib.errors import UsageError
from toolcrib.host import Host
from toolcrib.schema.servers import ServerEntry
from toolcrib.schema.tools import Tool

FOR_PAGES = True


class Params(OperationParams):
    """The servers, all that wait when none is named; `agree` holds the marks of what a person agreed to."""

    names: list[str] = Field(default_factory=list)
    agree: dict[str, str] = Field(default_factory=dict)


def needs(params: Params, configured: Configured) -> Needs:
    """The tools of these servers as they were last listed."""
    return Needs(servers=params.names or None, lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> TrustAnswer:
    """`{servers: [{name, trusted, launch, changed, remarks, tools, mark, server}]}`."""
    for name in params.names:
        check_server(host, name)
    entries = host.config.servers
    names = [name for name in params.names or entries if name in entries]
    shown = [_shown(host, entries[name]) for name in names]
    if not params.names:
        shown = [one for one in shown if not one["trusted"] or one["tools"]]
    for one in shown:
        if one["name"] in params.agree:
            await _agree(host, one, params.agree[one["name"]])
    return {"servers": shown}


async def _agree(host: Host, shown: TrustShown, mark: str) -> None:
    entry = host.config.servers.get(shown["name"])
    # Looked at again: agreeing to the servers before it may have taken a while.
    if entry is None or mark != _shown(host, entry)["mark"]:
        raise UsageError(
            f"{shown['name']} is no longer what you were shown.", hint="Look at it again: toolcrib trust"
        )
    await host.agree(shown["name"])
    status = server_json(host.servers.status(shown["name"]), host.caller.counts)
    shown.update({"trusted": True, "server": status})


def _shown(host: Host, entry: ServerEntry) -> TrustShown:
    launch, before = launch_of(entry.raw), host.trust.agreed(entry.name)
    tools = [
        _tool_json(host, tool) for tool in host.registry.snapshot.by_server.get(entry.name, ()) if tool.held
    ]
    return {
        "name": entry.name,
        "trusted": host.trust.holds(entry),
        "launch": launch,
        "changed": _differences(before, launch) if before is not None else {},
        "remarks": list(review_entry(entry.raw)),
        "tools": tools,
        "mark": mark_of(launch, [tool["hash"] for tool in tools]),
        "server": None,
    }


def _tool_json(host: Host, tool: Tool) -> HeldTool:
    pin = host.pins.pin(tool.server or "", tool.definition.name)
    return {
        "tool": tool.name,
        "reason": tool.held_reason,
        "hash": tool.hash,
        "approved_hash": pin.hash if pin else None,
        "approved_at": moment(pin.at) if pin else None,
        "changed": _differences(pin.definition if pin else {}, tool.definition.raw),
        "findings": found_in(host, tool),
    }


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Difference]:
    found = differences(before, now)
    return {part: {"before": one["before"], "now": one["now"]} for part, one in found.items()}

"""The `--json` of servers, tools and calls, one function for each, so that every surface says the same."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import cast
from urllib.parse import quote

from toolcrib.approvals.gate import DEFAULT_MODES
from toolcrib.config.settings import ProfileSettings, Settings
from toolcrib.control.answers.calls import CallRecorded, CallResult
from toolcrib.control.answers.gateway import ProfileShown
from toolcrib.control.answers.servers import Server, TrialStep
from toolcrib.control.answers.tools import ToolInfo
from toolcrib.schema.approvals import Mode
from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.tools import CallRecord, Tool, ToolResult
from toolcrib.servers.trial import Step
from toolcrib.tools.counts import Counts, ServerCounted


def server_json(status: ServerStatus, counts: Counts | None = None) -> Server:
    """A server, how it is doing, and how its calls went."""
    calls = ServerCounted() if counts is None else counts.of(status.name)
    shown = {**asdict(status), "state": status.state.value, "calls": asdict(calls)}
    shown["calls"]["tools"] = [{"name": name, **counted} for name, counted in shown["calls"]["tools"].items()]
    return cast("Server", shown)


def tool_json(tool: Tool) -> ToolInfo:
    """A tool and where it comes from."""
    definition = tool.definition
    return {
        "name": tool.name,
        "server": tool.server,
        "original_name": definition.name,
        "origin": tool.origin,
        "description": definition.description,
        "inputSchema": dict(definition.input_schema),
        "enabled": tool.enabled,
        "tokens": tool.tokens,
        "hash": tool.hash,
        "stale": tool.stale,
        "annotations": dict(definition.annotations),
        "first_seen": None if tool.history is None else moment(tool.history.first_seen),
        "last_changed": None if tool.history is None else moment(tool.history.last_changed),
        "changes": [] if tool.history is None else list(tool.history.changes),
    }


def record_json(record: CallRecord) -> CallRecorded:
    """A call that went through the door."""
    return {
        "time": moment(record.time),
        "tool": record.tool,
        "server": record.server,
        "principal": record.principal,
        "outcome": record.outcome,
        "ms": record.ms,
        "bytes": record.bytes,
        "arguments": record.arguments,
        "error": record.error,
        "session": record.session,
        "call_id": record.call_id,
    }


def result_json(result: ToolResult) -> CallResult:
    """A call's MCP result, as the server sent it; what it may leave out is there."""
    return cast("CallResult", {"content": [], "isError": False, **result})


def step_json(step: Step) -> TrialStep:
    """One step of a trial."""
    shown = {"name": step.name, "ok": step.ok, "ms": step.ms, "detail": step.detail}
    return cast("TrialStep", {**shown, "hint": step.hint} if step.hint else shown)


def profile_json(settings: Settings, name: str) -> ProfileShown:
    """A view of the gateway; the one without a name is the whole crib."""
    guarded = settings.profiles[name] if name else settings.gateway
    own = settings.profiles[name] if name else ProfileSettings()
    always_on = settings.retrieval.always_on if own.always_on is None else own.always_on
    return {
        "name": name,
        "path": f"/mcp/{quote(name, safe='')}" if name else "/mcp",
        "servers": list(own.servers),
        "tools": list(own.tools),
        "read_only": own.read_only,
        "search": own.search,
        "plain_names": own.plain_names,
        "k": own.k or settings.retrieval.k,
        "always_on": list(always_on),
        "token": bool(guarded.token_hash),
        "token_tail": guarded.token_tail if guarded.token_hash else "",
        "mode": _gateway_mode(settings),
    }


def _gateway_mode(settings: Settings) -> Mode:
    """When a person is asked about calls that come through the gateway."""
    approvals = settings.approvals
    return {**DEFAULT_MODES, **approvals.modes}.get("gateway", approvals.mode)


def moment(time: datetime) -> str:
    """ISO 8601 with milliseconds."""
    return time.isoformat(timespec="milliseconds")

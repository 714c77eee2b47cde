"""The `--json` of servers, tools and calls, one function for each, so that every surface says the same."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from toolcrib.schema.servers import ServerStatus
from toolcrib.schema.tools import CallRecord, Tool, ToolResult
from toolcrib.servers.trial import Step


def server_json(status: ServerStatus) -> dict[str, Any]:
    """A server and how it is doing."""
    return {**asdict(status), "state": status.state.value}


def tool_json(tool: Tool) -> dict[str, Any]:
    """A tool and where it comes from."""
    definition = tool.definition
    return {
        "name": tool.name,
        "server": tool.server,
        "original_name": definition.name,
        "origin": tool.origin,
        "description": definition.description,
        "inputSchema": definition.input_schema,
        "enabled": tool.enabled,
        "tokens": tool.tokens,
        "hash": tool.hash,
        "stale": tool.stale,
        "annotations": definition.annotations,
        **_history_json(tool),
    }


def _history_json(tool: Tool) -> dict[str, Any]:
    if tool.history is None:
        return {"first_seen": None, "last_changed": None, "changes": []}
    return {
        "first_seen": moment(tool.history.first_seen),
        "last_changed": moment(tool.history.last_changed),
        "changes": list(tool.history.changes),
    }


def record_json(record: CallRecord) -> dict[str, Any]:
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


def result_json(result: ToolResult) -> dict[str, Any]:
    """A call's MCP result, as the server sent it; what it may leave out is there."""
    return {"content": [], "isError": False, **result}


def step_json(step: Step) -> dict[str, Any]:
    """One step of a trial."""
    shown = {"name": step.name, "ok": step.ok, "ms": step.ms, "detail": step.detail}
    return {**shown, "hint": step.hint} if step.hint else shown


def moment(time: datetime) -> str:
    """ISO 8601 with milliseconds."""
    return time.isoformat(timespec="milliseconds")

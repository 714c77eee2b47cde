"""Outcomes of calls: the name that is recorded for an error, and the error as an MCP result."""

from __future__ import annotations

from toolcrib.errors import (
    ApprovalPending,
    CallTimeout,
    Denied,
    NotFound,
    ServerUnavailable,
    ToolcribError,
    UsageError,
)
from toolcrib.schema.tools import Outcome, Tool, ToolResult
from toolcrib.tools.ports import Decision


def outcome_of(error: ToolcribError) -> Outcome:
    if isinstance(error, UsageError | NotFound):
        return "invalid"
    if isinstance(error, Denied):
        return "denied"
    if isinstance(error, CallTimeout):
        return "timeout"
    if isinstance(error, ServerUnavailable):
        return "unavailable"
    return "failed"


def refusal(tool: Tool, decision: Decision) -> Denied:
    """The error for a denied call."""
    reason = f": {decision.reason.rstrip('.')}" if decision.reason else ""
    hint = f"The rule {decision.rule} decided this." if decision.rule else "The user has to approve it first."
    return Denied(f"The call of {tool.name} was refused{reason}.", hint=hint)


ERROR_NOTE = "toolcrib/error"
"""The key under `_meta` with the kind of error and whether a retry may help."""


def as_result(error: ToolcribError) -> ToolResult:
    text = f"{error.message}\n{error.hint}" if error.hint else error.message
    note = {"kind": error.kind, "retryable": error.retryable}
    pending = {"status": error.kind, "id": error.question} if isinstance(error, ApprovalPending) else {}
    return {
        "content": [{"type": "text", "text": text}],
        "isError": True,
        "_meta": {ERROR_NOTE: {**note, **pending}},
    }

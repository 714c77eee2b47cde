"""Names how a call ended, from the error it ended with."""

from __future__ import annotations

from toolcrib.errors import (
    CallTimeout,
    Denied,
    NotFound,
    ServerUnavailable,
    ToolcribError,
    UsageError,
)
from toolcrib.schema.tools import Outcome, Tool
from toolcrib.tools.ports import Decision


def outcome_of(error: ToolcribError) -> Outcome:
    """The word that is recorded for this error."""
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
    """The error for a call that the gate did not let through."""
    reason = f": {decision.reason.rstrip('.')}" if decision.reason else ""
    hint = f"The rule {decision.rule} decided this." if decision.rule else "Someone has to allow it first."
    return Denied(f"The call of {tool.name} was refused{reason}.", hint=hint)

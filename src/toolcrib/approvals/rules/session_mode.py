"""The way into an autonomous run of steps leads through a person; the way out is always open."""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall

SERVER = "terminal"
REQUEST, END, KILL = "request_session_mode", "end_session_mode", "kill_process"


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """Ask for entering; allow leaving, and ending what was started."""
    if not facts.ours or call.tool.server != SERVER:
        return None
    name = call.tool.definition.name
    if name == REQUEST:
        reason = f"A run of steps without asking is wanted: {call.arguments.get('reason', '')}"
        return Finding(effect="ask", rule="session_mode", reason=reason, firm=True)
    if name in (END, KILL):
        reason = "Ending something is always allowed."
        return Finding(effect="allow", rule="session_mode", reason=reason, firm=True)
    return None

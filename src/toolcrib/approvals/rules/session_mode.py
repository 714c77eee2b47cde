"""Turning approvals off for the rest of a turn (session mode of the terminal) needs approval; turning them on
again, or ending a process, never does.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall

SERVER = "terminal"
REQUEST, END, KILL = "request_session_mode", "end_session_mode", "kill_process"


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask for entering the mode; allow leaving it, and ending processes."""
    if not facts.ours or call.tool.server != SERVER:
        return None
    name = call.tool.definition.name
    if name == REQUEST and not call.principal.owns_session:
        reason = "Approvals cannot be turned off for a caller without a session of its own."
        return RuleResult(effect="deny", rule="session_mode", reason=reason, final=True)
    if name == REQUEST:
        reason = f"Asks to run further steps without approval: {call.arguments.get('reason', '')}"
        return RuleResult(effect="ask", rule="session_mode", reason=reason, final=True)
    if name in (END, KILL):
        reason = "Ending a process or session mode is always allowed."
        return RuleResult(effect="allow", rule="session_mode", reason=reason, final=True)
    return None

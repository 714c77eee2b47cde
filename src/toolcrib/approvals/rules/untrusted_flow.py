"""Content from outside may carry orders: after it was read, what writes or sends is for a person to judge.

It cannot be seen whether the content caused the call, so every later call of the session counts until the
person lifts it. Looking things up outside counts once something private was read too.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.approvals.judging import FLOW
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """Ask, whatever other rules say."""
    if not facts.untrusted or facts.lifted or _stays_here(call, facts):
        return None
    told = f"Content from outside was read in this session ({_named(facts.untrusted)})"
    if facts.private:
        told += f", and what is yours ({_named(facts.private)})"
    reason = f"{told}; {call.tool.name} could now act on its behalf."
    return Finding(effect="ask", rule=FLOW, reason=reason, firm=True)


def _stays_here(call: ToolCall, facts: Facts) -> bool:
    """It only reads; outside, only while there is nothing private that it could carry away."""
    if reads_only(call, facts):
        outside = call.tool.definition.annotations.get("openWorldHint") is True or not facts.ours
        return not outside or not facts.private
    return False


def _named(tools: tuple[str, ...]) -> str:
    return ", ".join(tools)


def reads_only(call: ToolCall, facts: Facts) -> bool:
    """Declared by a tool of ours or by one that a person vouches for, or a command that only reads."""
    if call.tool.definition.read_only:
        return facts.ours or facts.vouched
    if not facts.ours:
        return False
    from toolcrib.approvals.rules import session_mode, shell

    found = shell.check(call, facts) or session_mode.check(call, facts)
    return found is not None and found.effect == "allow"

"""Content from outside may carry orders: after it was read, what writes or sends is for a person to judge.

It cannot be seen whether the content caused the call, so every later call of the session counts until the
person lifts it. A call that only reads is free as long as it tells nobody anything new: it stays on this
machine, or reaches its own server with what came from there, or was the only one to read anything. That a
tool of others reads, a person has to vouch for by a rule.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.approvals.reach import reach_of, source_of
from toolcrib.approvals.verdict import FLOW
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """Ask, whatever other rules say."""
    if not facts.untrusted or facts.lifted:
        return None
    reads = reads_only(call, facts)
    if (reads or call.tool.definition.read_only) and not _carries_away(call, facts):
        return None if reads else _UNPROVEN
    told = f"Content from outside was read in this session ({_named(facts.untrusted)})"
    if facts.private:
        told += f", and what may be private ({_named(facts.private)})"
    could = "could now carry it away" if reads else "could now act on its behalf"
    return Finding(effect="ask", rule=FLOW, reason=f"{told}; {call.tool.name} {could}.", firm=True)


_UNPROVEN = Finding(
    effect="ask",
    rule=FLOW,
    reason="It only says of itself that it reads, and content from outside was read in this session.",
    firm=True,
    vouchable=True,
)


def _carries_away(call: ToolCall, facts: Facts) -> bool:
    """Whether a call that only reads could tell somebody what others were not told yet."""
    reach = reach_of(call, ours=facts.ours)
    if reach == "here":
        return False
    if reach == "server":
        return bool(facts.private_from - {source_of(call.tool, ours=facts.ours)})
    return any(name != call.tool.name for name in facts.private)


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

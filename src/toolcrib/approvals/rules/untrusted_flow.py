"""Untrusted content may carry instructions: after it was read, calls that write or send data need approval.

Whether the content caused a call cannot be seen, so every later call of the session counts until the user
turns this off. Read-only calls run as long as they send no one anything new: they stay on this machine, or
reach a server with its own data, or read an address that the session knows, or search the web and nothing
private was read. Other servers' read-only annotations count only with a user's rule.
"""

from __future__ import annotations

from toolcrib.approvals.facts import (
    Facts,
    names_address,
    reach_of,
    receiver,
    sent_addresses,
    shell_argument,
    source_of,
)
from toolcrib.approvals.verdict import FLOW, READ_ONLY_MARK
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask, whatever other rules say."""
    if not facts.untrusted or facts.lifted:
        return None
    reads = reads_only(call, facts)
    if (reads or call.tool.definition.read_only) and not carries_away(call, facts):
        return None if reads else _UNPROVEN
    return RuleResult(effect="ask", rule=FLOW, reason=_reason(call, facts, reads=reads), final=True)


def _reason(call: ToolCall, facts: Facts, *, reads: bool) -> str:
    from toolcrib.approvals.rule_text import revealed  # few calls need it

    told = f"Untrusted content was read in this session ({', '.join(facts.untrusted)})"
    if facts.private:
        told += f", and possibly private data ({', '.join(facts.read)})"
    could = "could be acting on its instructions"
    if reads:
        what = "it" if facts.private else "text of this session"
        could = f"could send {what} to someone else: {receiver(call, ours=facts.ours)}"
    return revealed(f"{told}; {call.tool.name} {could}.")


_UNPROVEN = RuleResult(
    effect="ask",
    rule=FLOW,
    reason=f"{READ_ONLY_MARK}, and untrusted content was read in this session.",
    final=True,
    overridable=True,
)


def carries_away(call: ToolCall, facts: Facts) -> bool:
    """Whether a read-only call could send data to someone who does not have it yet."""
    reach = reach_of(call, ours=facts.ours)
    if reach == "here":
        return False
    if reach == "server":
        return bool(facts.private_from - {source_of(call.tool, ours=facts.ours)})
    if reach == "service":
        return bool(facts.private)
    if _is_known(call, facts):
        return False
    if shell_argument(call.tool, ours=facts.ours) or names_address(call):
        return True
    return any(name != call.tool.name for name in facts.private)


def _is_known(call: ToolCall, facts: Facts) -> bool:
    """Whether the call sends nothing but addresses that the session knows."""
    addresses = sent_addresses(call)
    if addresses is None or facts.addresses is None:
        return False
    return facts.addresses.know(addresses, private=bool(facts.private))


def reads_only(call: ToolCall, facts: Facts) -> bool:
    """Whether our own tool, a tool allowed by a user's rule, or a shell command is read-only."""
    if call.tool.definition.read_only:
        return facts.ours or facts.vouched
    if not facts.ours:
        return False
    from toolcrib.approvals.rules import session_mode, shell

    found = shell.check(call, facts) or session_mode.check(call, facts)
    return found is not None and found.effect == "allow"

"""After private data was read, a call that could send it to anybody needs approval, whatever caused the call.

Instructions may be in local files too, which count as trusted. Commands and code are decided by their own
rules: those that run without approval stay on this machine. A rule of the user for these arguments allows the
call; a rule for the whole tool does not.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts, code_argument, reach_of, receiver, shell_argument, source_of
from toolcrib.approvals.rules.untrusted_flow import carries_away
from toolcrib.approvals.verdict import PRIVATE
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask for a call that would otherwise run without a question."""
    if not facts.private or facts.lifted:
        return None
    if shell_argument(call.tool, ours=facts.ours) or code_argument(call.tool, ours=facts.ours):
        return None
    reads = call.tool.definition.read_only
    if not (facts.vouched or (facts.ours and reads)) or not _could_send(call, facts, reads=reads):
        return None
    return RuleResult(
        effect="ask",
        rule=PRIVATE,
        reason=_reason(call, facts),
        on_rule=facts.ours and reads and source_of(call.tool, ours=True) in facts.private_from,
    )


def _could_send(call: ToolCall, facts: Facts, *, reads: bool) -> bool:
    if reads:
        return reach_of(call, ours=facts.ours) in ("service", "anybody") and carries_away(call, facts)
    if facts.ours:
        return reach_of(call, ours=True) == "anybody"
    return bool(facts.private_from - {source_of(call.tool, ours=False)})


def _reason(call: ToolCall, facts: Facts) -> str:
    from toolcrib.approvals.rule_text import revealed  # few calls need it

    were = "was" if len(facts.read) == 1 else "were"
    told = f"{', '.join(facts.read)} {were} read in this session, and {receiver(call, ours=facts.ours)}."
    return revealed(told)

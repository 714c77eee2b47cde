"""Code and keystrokes cannot be checked in advance, so the user is asked. Which tools take them is in
`approvals/facts.py`.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts, code_argument
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask for tools that run code or keystrokes."""
    if code_argument(call.tool, ours=facts.ours) is None:
        return None
    return RuleResult(effect="ask", rule="code", reason=f"{call.tool.name} runs any code it is given.")

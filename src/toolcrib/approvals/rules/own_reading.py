"""Our own read-only tools run without approval; annotations of other tools are hints and allow nothing."""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Allow read-only tools of Toolcrib."""
    if not facts.ours or not call.tool.definition.read_only:
        return None
    return RuleResult(effect="allow", rule="own_reading", reason="A read-only tool of Toolcrib.", reads=True)

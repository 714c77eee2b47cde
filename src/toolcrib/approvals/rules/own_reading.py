"""Our own read-only tools run without approval; annotations of other tools are hints and allow nothing.

A read-only tool that says what it acts on, such as the clipboard, needs approval for that.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import ToolCall
from toolcrib.serverkit.data_flow import is_scoped


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Allow read-only tools of Toolcrib."""
    if not facts.ours or not call.tool.definition.read_only:
        return None
    if is_scoped(call.tool.definition.raw):
        return None
    return RuleResult(effect="allow", rule="own_reading", reason="A read-only tool of Toolcrib.", reads=True)

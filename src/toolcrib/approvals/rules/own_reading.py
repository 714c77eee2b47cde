"""Tools of ours that only read run unasked; what others declare of theirs is a hint and allows nothing."""

from __future__ import annotations

from toolcrib.approvals.facts import Facts
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """Allow reading by a tool that came with Toolcrib."""
    if not facts.ours or not call.tool.definition.read_only:
        return None
    return Finding(
        effect="allow", rule="own_reading", reason="A tool of Toolcrib that only reads.", reads=True
    )

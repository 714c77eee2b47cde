"""Code and keystrokes cannot be judged beforehand: a person looks at them."""

from __future__ import annotations

from toolcrib.approvals.facts import Facts, code_argument
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """Ask for tools that run what they are given."""
    if code_argument(call.tool, ours=facts.ours) is None:
        return None
    return Finding(effect="ask", rule="code", reason=f"{call.tool.name} runs what it is given.")

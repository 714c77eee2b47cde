"""Behind the gateway, our own tools that send, invite, delete or control the desktop ask first.

The declarations of a tool decide; one that declares nothing counts as the worst case. Commands and code have
rules of their own, and writing files is ordinary work. A user's rule that allows the tool is enough.
"""

from __future__ import annotations

from toolcrib.approvals.facts import Facts, code_argument, shell_argument
from toolcrib.approvals.verdict import OUTGOING
from toolcrib.schema.approvals import RuleResult
from toolcrib.schema.tools import Tool, ToolCall
from toolcrib.serverkit.data_flow import data_flow, is_scoped

_WRITES_FILES = frozenset({"write_file", "move_file"})
"""Declared destructive because they may replace a file."""
_ONLY_WITH = {"create_event": "attendees"}
"""Tools that reach other people only if the call has this argument."""


def check(call: ToolCall, facts: Facts) -> RuleResult | None:
    """Ask, unless the user's rules allow the tool."""
    if not facts.asks_before_sending or not facts.ours or facts.vouched:
        return None
    reason = why_asked(call.tool)
    needed = _ONLY_WITH.get(call.tool.definition.name)
    if not reason or (needed is not None and not call.arguments.get(needed)):
        return None
    return RuleResult(effect="ask", rule=OUTGOING, reason=reason)


def why_asked(tool: Tool) -> str:
    """Why calls of one of our own tools ask; empty if they do not."""
    definition = tool.definition
    if shell_argument(tool, ours=True) or code_argument(tool, ours=True):
        return ""
    if is_scoped(definition.raw):
        return "It uses the desktop."
    if definition.read_only:
        return ""
    hints, flow = definition.annotations, data_flow(definition.raw)
    here = hints.get("openWorldHint") is False
    reach = flow.reach if flow is not None and flow.reach is not None else "here" if here else "anybody"
    if reach == "anybody":
        return "It can reach other people."
    if hints.get("destructiveHint") is False or (here and definition.name in _WRITES_FILES):
        return ""
    return "It deletes or replaces something."

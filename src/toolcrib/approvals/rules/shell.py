"""Shell commands: what only reads may run, what destroys may not, the rest is for a person."""

from __future__ import annotations

from toolcrib.approvals.facts import Facts, shell_argument
from toolcrib.schema.approvals import Finding
from toolcrib.schema.tools import ToolCall


def check(call: ToolCall, facts: Facts) -> Finding | None:
    """The verdict on the command, for tools that run one."""
    argument = shell_argument(call.tool, ours=facts.ours)
    if argument is None:
        return None
    from toolcrib.serverkit.shell import judge

    verdict = judge(str(call.arguments.get(argument, "")))
    if verdict.kind == "harmless":
        return Finding(effect="allow", rule="shell", reason=verdict.reason, reads=True)
    effect = "deny" if verdict.kind == "destructive" else "ask"
    return Finding(effect="deny" if effect == "deny" else "ask", rule="shell", reason=verdict.reason)

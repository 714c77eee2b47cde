"""`policy_explain`: what the gate would decide about a call, and why; nothing runs and nobody is asked."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.control.answers.policy import Explanation
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import find_tool, possible_owners
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.schema.approvals import Mode
from toolcrib.schema.tools import Principal
from toolcrib.tools.validation import ArgumentChecker

FOR_PAGES = True


class Params(OperationParams):
    """The call; on whose behalf, in which mode, and in which project."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    principal: str = "agent"
    mode: Mode | None = None
    """As the settings say when it is left out."""
    project: str = ""


def needs(params: Params, configured: Configured) -> Needs:
    """The one server that is meant, to know the tool."""
    return Needs(servers=possible_owners(params.tool, configured()), lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> Explanation:
    """`{decision, rule, reasons, mode}`."""
    tool = host.workspace_tools.find(params.tool) or await find_tool(host, params.tool)
    ArgumentChecker().check(tool, params.arguments)
    gate = host.approvals
    principal = Principal(name=params.principal, session=f"explain-{params.tool}")
    gate.begin(principal, mode=params.mode, project=params.project)
    try:
        judgement = gate.explain(tool, params.arguments, principal)
        mode = gate.mode_of(principal)
    finally:
        gate.end(principal)
    return {
        "decision": judgement.decision,
        "rule": judgement.rule,
        "reasons": list(judgement.reasons),
        "mode": mode,
    }

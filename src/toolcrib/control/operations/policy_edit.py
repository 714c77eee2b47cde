"""`policy_edit`: put another rule in the place of one, once its examples prove what it means."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from toolcrib.control.answers.policy import RuleShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.operations.policy_add import check_rule
from toolcrib.control.policy_shapes import rule_shown
from toolcrib.errors import NotFound
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The id of the rule as it is, and the rule as it is to be."""

    id: str
    rule: dict[str, Any] = Field(default_factory=dict)


def needs(params: Params, configured: Configured) -> Needs:
    """It is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> RuleShown:
    """The rule with its id, which is another one; raises `NotFound`, `UsageError` for a wrong one."""
    rule = check_rule(params.rule)
    if not host.approvals.rules.replace(params.id, rule):
        raise NotFound(f"There is no rule {params.id!r}.", hint="See them with: toolcrib policy")
    return rule_shown(rule)

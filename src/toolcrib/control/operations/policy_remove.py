"""`policy_remove`: forget a rule of the person."""

from __future__ import annotations

from toolcrib.control.answers.policy import RuleRemoved
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import rule_shown
from toolcrib.errors import NotFound
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The id of the rule."""

    id: str


def needs(params: Params, configured: Configured) -> Needs:
    """It is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> RuleRemoved:
    """`{id, removed, rule}`; raises `NotFound`."""
    known = {rule.id: rule for rule, _ in host.approvals.rules.listed()}.get(params.id)
    if not host.approvals.rules.remove(params.id):
        raise NotFound(f"There is no rule {params.id!r}.", hint="See them with: toolcrib policy")
    return {"id": params.id, "removed": True, "rule": None if known is None else rule_shown(known)}

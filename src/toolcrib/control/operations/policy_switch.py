"""`policy_switch`: put a rule of the person out of force for a while, or into force again."""

from __future__ import annotations

from toolcrib.control.answers.policy import RuleSwitched
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import NotFound
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The id of the rule, and whether it is to hold."""

    id: str
    enabled: bool


def needs(params: Params, configured: Configured) -> Needs:
    """It is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> RuleSwitched:
    """`{id, enabled}`; raises `NotFound`."""
    if not host.approvals.rules.switch(params.id, params.enabled):
        raise NotFound(f"There is no rule {params.id!r}.", hint="See them with: toolcrib policy")
    return {"id": params.id, "enabled": params.enabled}

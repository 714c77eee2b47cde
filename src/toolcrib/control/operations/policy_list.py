"""`policy_list`: the rules of the person, and in which mode each kind of caller is."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

from toolcrib import plugins
from toolcrib.approvals.gate import RULES
from toolcrib.control.answers.policy import BrokenRule, Policy
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import shown_rules
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """They are in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Policy:
    """`{mode, modes, rules, built_in, broken}`."""
    gate = host.approvals
    return {
        "mode": gate.mode,
        "modes": dict(gate.modes),
        "rules": await shown_rules(host),
        "built_in": list(plugins.names(RULES)),
        "broken": [cast("BrokenRule", asdict(one)) for one in gate.rules.broken()],
    }

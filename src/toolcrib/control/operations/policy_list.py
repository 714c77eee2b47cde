"""`policy_list`: the rules of the person, and in which mode each kind of caller is."""

from __future__ import annotations

from typing import Any

from toolcrib import plugins
from toolcrib.approvals.gate import RULES
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """They are in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> dict[str, Any]:
    """`{mode, modes, rules, built_in}`."""
    gate = host.approvals
    return {
        "mode": gate.mode,
        "modes": dict(gate.modes),
        "rules": [rule.as_json() for rule in gate.rules.all()],
        "built_in": list(plugins.names(RULES)),
    }

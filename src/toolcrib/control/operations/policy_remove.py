"""`policy_remove`: forget a rule of the person."""

from __future__ import annotations

from typing import Any

from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import NotFound
from toolcrib.host import Host


class Params(OperationParams):
    """The id of the rule."""

    id: str


def needs(params: Params, configured: Configured) -> Needs:
    """It is in the database."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> dict[str, Any]:
    """`{id, removed}`; raises `NotFound`."""
    if not host.approvals.rules.remove(params.id):
        raise NotFound(f"There is no rule {params.id!r}.", hint="See them with: toolcrib policy")
    return {"id": params.id, "removed": True}

"""`page_revoke`: let a page in no more; what it has open ends."""

from __future__ import annotations

from toolcrib.control.answers.pages import Revoked
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.errors import NotFound
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which, by the id that `pages` shows."""

    id: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host that serves it."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> Revoked:
    """`{id, revoked}`; raises `NotFound`."""
    if not host.pages.revoke(params.id):
        raise NotFound(f"No page {params.id!r} is let in.", hint="See them with: toolcrib open --list")
    return {"id": params.id, "revoked": True}

"""`rollback`: make an earlier version of an installed server the active one again; nothing is fetched."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.installing import RolledBack
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.installing import installations_of, set_version, version_json
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.switching import status_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server; `to` names a version, else it is the one installed before."""

    name: str
    to: str | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """The files of one server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> RolledBack:
    """`{name, active, before, server}`."""
    installations = installations_of(host)
    active, before = await asyncio.to_thread(installations.rollback, params.name, params.to)
    await set_version(host, active)
    return {
        "name": params.name,
        "active": version_json(active),
        "before": version_json(before) if before else None,
        "server": status_json(host, params.name),
    }

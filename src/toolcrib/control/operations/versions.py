"""`versions`: which versions of an installed server lie here, without asking anybody else."""

from __future__ import annotations

import asyncio

from toolcrib.control.answers.installing import KeptVersion
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host
from toolcrib.servers.installing.place import Place

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The folder of the server alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[KeptVersion]:
    """An array, the newest first; empty for a server that we did not install."""
    check_server(host, params.name)
    return await asyncio.to_thread(_kept, Place(host.connector.installs, params.name))


def _kept(place: Place) -> list[KeptVersion]:
    current = place.current
    return [
        {
            "version": one.version,
            "installed_at": one.installed_at.isoformat(),
            "active": one == current,
            "package": one.package,
        }
        for one in reversed(place.versions())
    ]

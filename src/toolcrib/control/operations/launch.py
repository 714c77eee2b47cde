"""`launch`: what a configured server would run or reach, for a person to read before `trust`."""

from __future__ import annotations

from toolcrib.control.answers.adding import LaunchShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.launching import launch_shown
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """Its tools as they were last listed: their definitions are part of what is agreed to."""
    return Needs(servers=(params.name,), lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> LaunchShown:
    """The exact command and all that belongs to it; `trust` takes its `mark`."""
    check_server(host, params.name)
    if params.name in host.config.broken:
        raise host.config.broken[params.name]
    return await launch_shown(host, host.config.servers[params.name])

"""`setup_trust`: trust a configured server as shown, install what it needs, try it; it goes on by itself."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.launching import launch_shown
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.setting_up import agree, new_status
from toolcrib.control.setup_shapes import setup_json
from toolcrib.errors import UsageError
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server, and the mark of what a person was shown and agreed to."""

    name: str
    mark: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which it goes on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupShown:
    """How it stands at the beginning; the live stream tells the rest."""
    check_server(host, params.name)
    if params.name in host.config.broken:
        raise host.config.broken[params.name]
    shown = await launch_shown(host, host.config.servers[params.name])
    if shown["mark"] != params.mark:
        raise UsageError(f"{params.name} is no longer what you were shown.", hint="Look at it again.")
    installs = not shown["installed"]
    status = new_status(
        params.name,
        "trust",
        {"type": shown["type"], **host.config.servers[params.name].raw},
        installs=installs,
    )
    return setup_json(
        host.setups.begin(status, lambda setup: agree(host, setup, params.mark, installs=installs))
    )

"""`setup_update`: put another version of an installed server in place, as planned; it goes on by itself."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.setting_up import new_status, update
from toolcrib.control.setup_shapes import setup_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server, the version, and the digest of the plan that was shown."""

    name: str
    to: str | None = None
    agreed: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which it goes on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupShown:
    """How it stands at the beginning; the live stream tells the rest."""
    check_server(host, params.name)
    entry = host.config.servers.get(params.name)
    status = new_status(params.name, "update", entry.raw if entry else {}, installs=True)
    words = params.model_dump()
    return setup_json(host.setups.begin(status, lambda setup: update(host, setup, words)))

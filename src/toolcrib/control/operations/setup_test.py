"""`setup_test`: start a second instance of a server step by step; it goes on by itself."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.lookup import check_server
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.setting_up import new_status, trial
from toolcrib.control.setup_shapes import setup_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The server."""

    name: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which it goes on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> SetupShown:
    """How it stands at the beginning; what is under way with this server already is shown, not begun anew."""
    check_server(host, params.name)
    known = host.setups.get(params.name)
    if known is not None and known.running:
        return setup_json(known)
    entry = host.config.servers.get(params.name)
    raw = {"type": entry.type, **entry.raw} if entry else {}
    status = new_status(params.name, "test", raw, installs=False)
    return setup_json(host.setups.begin(status, lambda setup: trial(host, setup)))

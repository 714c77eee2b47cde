"""`page_address`: a new address that lets one page in, once."""

from __future__ import annotations

from toolcrib.control.answers.pages import PageAddress
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.errors import NoHost
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The host that serves the page."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> PageAddress:
    """`{url}`; raises `NoHost` when the host that runs serves no page."""
    base = host.pages.address
    if base is None:
        raise NoHost(
            "The running host serves no page.", hint="End it, and start one that does with: toolcrib up"
        )
    # The token stands behind a `#`: no server and no log sees it.
    return {"url": f"{base}/#key={host.pages.invite()}"}

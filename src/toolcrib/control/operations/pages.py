"""`pages`: the pages that were let in."""

from __future__ import annotations

from toolcrib.control.answers.pages import LetInPage
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The host that serves them."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> list[LetInPage]:
    """The latest first."""
    return [
        {"id": key.id, "name": key.name, "made_at": moment(key.made_at), "used_at": moment(key.used_at)}
        for key in host.pages.all()
    ]

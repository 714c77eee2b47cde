"""`setups`: servers that are being added, installed or tried out, and how the latest went."""

from __future__ import annotations

from toolcrib.control.answers.setups import SetupShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.setup_shapes import setup_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which they go on."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> list[SetupShown]:
    """An array, the oldest first."""
    return [setup_json(status) for status in host.setups.all()]

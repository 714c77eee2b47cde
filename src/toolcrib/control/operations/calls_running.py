"""`calls_running`: the calls that have not ended, and those that wait for a person."""

from __future__ import annotations

from toolcrib.control.answers.activity import RunningCall
from toolcrib.control.call_shapes import shown_running
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.control.policy_shapes import rule_numbers
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """Calls run in a host that goes on running."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> list[RunningCall]:
    """The newest first."""
    numbers = rule_numbers(host)
    return [shown_running(host, call, numbers) for call in reversed(host.caller.under_way())]

"""`call_stop`: stop one call of a running turn, which goes on without it; the model is told."""

from __future__ import annotations

from toolcrib.control.answers.chats import CallStopped
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """The chat, and the id of the call as its turn told it."""

    chat: str
    call: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which the turn runs."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> CallStopped:
    """`{chat, call, stopped}` when nothing of it is left; one that has ended already is no mistake."""
    turn = host.turns.of(params.chat)
    stopped = turn is not None and turn.running and await turn.stop_call(params.call)
    return {"chat": params.chat, "call": params.call, "stopped": stopped}

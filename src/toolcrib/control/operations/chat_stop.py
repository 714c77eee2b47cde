"""`chat_stop`: stop the running turn of a chat, with all that its tools have started."""

from __future__ import annotations

from toolcrib.control.answers.chats import TurnStopped
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import RUNNING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat."""

    chat: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host in which the turn runs."""
    return RUNNING


async def run(host: Host, params: Params, emit: Emit) -> TurnStopped:
    """`{chat, turn, ending}` when nothing is left running; a chat that does nothing is no mistake."""
    turn = host.turns.of(params.chat)
    if turn is None or not turn.running:
        return {"chat": params.chat, "turn": None, "ending": None}
    ended = await turn.stop()
    return {"chat": params.chat, "turn": turn.id, "ending": ended.ending}

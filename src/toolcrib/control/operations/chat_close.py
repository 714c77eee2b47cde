"""`chat_close`: the talk is over for now; what ran for it alone ends. The chat itself stays."""

from __future__ import annotations

from toolcrib.agent.agent import agent_principal
from toolcrib.control.answers.models import ChatClosed
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat."""

    chat: str


def needs(params: Params, configured: Configured) -> Needs:
    """The host that the talk was in."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> ChatClosed:
    """`{chat}`."""
    await host.rest_session(agent_principal(params.chat))
    return {"chat": params.chat}

"""`chat_delete`: put a chat away; `chat_restore` brings it back for a while."""

from __future__ import annotations

from toolcrib.agent.agent import agent_principal
from toolcrib.control.answers.chats import ChatSummary
from toolcrib.control.chat_standing import summaries
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat."""

    chat: str


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatSummary:
    """The chat as it was; what runs for it is stopped. Raises `NotFound`."""
    chat = await host.chats.load(params.chat)
    turn = host.turns.of(chat.id)
    if turn is not None and turn.running:
        await turn.stop()
    await host.rest_session(agent_principal(chat.id))
    info = await host.chats.delete(chat.id)
    return (await summaries(host, [info], deleted=True))[0]

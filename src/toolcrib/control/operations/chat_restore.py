"""`chat_restore`: bring a deleted chat back."""

from __future__ import annotations

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
    """The chat; raises `NotFound` when it is gone for good."""
    info = await host.chats.restore(params.chat)
    return (await summaries(host, [info]))[0]

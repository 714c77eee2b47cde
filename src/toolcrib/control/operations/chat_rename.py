"""`chat_rename`: give a chat another title."""

from __future__ import annotations

from pydantic import Field

from toolcrib.control.answers.chats import ChatSummary
from toolcrib.control.chat_standing import summaries
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat, and its title."""

    chat: str
    title: str = Field(default="Untitled", min_length=1, max_length=200)


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatSummary:
    """The chat with its new title; raises `NotFound`."""
    info = await host.chats.rename(params.chat, params.title)
    return (await summaries(host, [info]))[0]

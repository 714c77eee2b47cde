"""`chat_show`: a whole chat, to be read or exported."""

from __future__ import annotations

from typing import cast

from toolcrib.control.answers.models import ChatWhole
from toolcrib.control.chat_shapes import chat_json
from toolcrib.control.chat_standing import states_of
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which."""

    chat: str


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatWhole:
    """The chat with its entries; raises `NotFound`."""
    chat = await host.chats.load(params.chat)
    states = await states_of(host, [chat.info])
    return cast("ChatWhole", {**chat_json(chat), "state": states[chat.id]})

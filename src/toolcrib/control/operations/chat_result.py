"""`chat_result`: everything that one call of a chat answered, pictures and cut parts included."""

from __future__ import annotations

from toolcrib.control.answers.chats import CallWhole
from toolcrib.control.chat_turns import whole_call
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.operations.chat_view import row_of
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat, and which call."""

    chat: str
    call: str = "call_1"


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> CallWhole:
    """The call; raises `NotFound`, also while it still runs."""
    chat = await host.chats.load(params.chat)
    return whole_call([row_of(row) for row in await host.chat_rows.read(chat.id)], params.call)

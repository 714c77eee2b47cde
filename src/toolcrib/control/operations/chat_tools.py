"""`chat_tools`: say which tools a chat always offers to the model, and which never."""

from __future__ import annotations

from toolcrib.control.answers.chats import ChatTools
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Which chat, and its tools by name or pattern; what is left out stays as it is."""

    chat: str
    pinned: tuple[str, ...] | None = None
    banned: tuple[str, ...] | None = None


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatTools:
    """`{chat, pinned, banned}`; it counts from the next question on. Raises `NotFound`."""
    info = await host.chats.choose_tools(params.chat, pinned=params.pinned, banned=params.banned)
    return {"chat": info.id, "pinned": list(info.pinned), "banned": list(info.banned)}

"""`chat_list`: the chats there are."""

from __future__ import annotations

from typing import cast

from pydantic import Field

from toolcrib.control.answers.models import ChatInfo
from toolcrib.control.chat_shapes import chat_info_json
from toolcrib.control.chat_standing import states_of
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """How many."""

    limit: int = Field(default=50, ge=1, le=10_000)


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[ChatInfo]:
    """The latest first."""
    chats = list(await host.chats.list(params.limit))
    states = await states_of(host, chats)
    return [cast("ChatInfo", {**chat_info_json(info), "state": states[info.id]}) for info in chats]

"""`chat_fork`: a new chat that begins as another did."""

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
    """Which, and how much of it."""

    chat: str
    entries: int | None = Field(default=None, ge=0)


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatInfo:
    """The new chat; raises `NotFound`."""
    forked = await host.chats.fork(params.chat, params.entries)
    states = await states_of(host, [forked.info])
    return cast("ChatInfo", {**chat_info_json(forked.info), "state": states[forked.id]})

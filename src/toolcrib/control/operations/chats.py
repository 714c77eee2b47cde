"""`chats`: the chats there are and how each stands, the latest first, or those that hold some words."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from toolcrib.control.answers.chats import ChatList
from toolcrib.control.chat_standing import summaries
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """How many, and which."""

    limit: int = Field(default=50, ge=1, le=500)
    before: datetime | None = None
    """Only those that were last used before this, to page on."""
    words: str = Field(default="", max_length=500)
    """Only those that hold these words, the best first."""
    deleted: bool = False
    """Those that were deleted and can still be had back."""


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatList:
    """`{chats, more}`."""
    if params.words.strip():
        found = await host.chats.search(params.words, params.limit)
        excerpts = {one.info.id: one.excerpt for one in found}
        return {"chats": await summaries(host, [one.info for one in found], excerpts), "more": False}
    if params.deleted:
        gone = list(await host.chats.deleted(params.limit))
        return {"chats": await summaries(host, gone, deleted=True), "more": False}
    listed = list(await host.chats.list(params.limit + 1, before=params.before))
    shown = await summaries(host, listed[: params.limit])
    return {"chats": shown, "more": len(listed) > params.limit}

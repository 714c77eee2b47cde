"""How chats stand: what a list of them says of each beside its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcrib.agent.chat import ChatInfo
from toolcrib.control.answers.chats import ChatState, ChatSummary
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.store.chat_rows import ChatStanding

_ENDINGS: Mapping[str | None, ChatState] = {
    None: "empty",
    "answered": "done",
    "budget": "done",
    "cut": "done",
    "refused": "done",
    "filtered": "done",
    "stopped": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
}


async def summaries(
    host: Host,
    chats: Sequence[ChatInfo],
    excerpts: Mapping[str, str] | None = None,
    *,
    deleted: bool = False,
) -> list[ChatSummary]:
    """These chats as a list shows them; `excerpts` are the places that were found, by chat."""
    standings = await host.chat_rows.standings([(info.id, info.entries) for info in chats])
    found = excerpts or {}
    return [_summary(host, info, standings[info.id], found.get(info.id), deleted=deleted) for info in chats]


async def states_of(host: Host, chats: Sequence[ChatInfo]) -> dict[str, ChatState]:
    """How each of these chats stands, by its id."""
    return {one["id"]: one["state"] for one in await summaries(host, chats)}


def _summary(
    host: Host, info: ChatInfo, standing: ChatStanding, excerpt: str | None, *, deleted: bool
) -> ChatSummary:
    told = host.chat_news.of(info.id)
    questions = host.chat_news.questions(info.id)
    state = _ENDINGS.get(standing.ending, "done")
    if told is not None and told.running:
        state = "asking" if questions else "running"
    return {
        "id": info.id,
        "title": info.title,
        "model": info.model,
        "created": moment(info.created),
        "updated": moment(info.updated),
        "parent": info.parent,
        "entries": info.entries,
        "state": state,
        "questions": questions,
        "calls": standing.calls,
        "reason": standing.reason,
        "excerpt": excerpt,
        "deleted": deleted,
    }

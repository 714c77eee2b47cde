"""Chats: list, search, show, pin, rename, fork, export, delete, restore. Names of exported chats, the tools
that a chat always or never offers, and the state in a list (done, stopped, failed, asking)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from toolcrib.agent.agent import agent_principal
from toolcrib.agent.chat import Chat
from toolcrib.agent.chat import ChatMetadata as StoredChat
from toolcrib.agent.export import as_markdown, chat_info_json, chat_json
from toolcrib.chats.replay import StoredEntry, replay, versions
from toolcrib.chats.turn_json import turn_json
from toolcrib.chats.wire import ChatTurn, FileText, QuestionVersion
from toolcrib.errors import NotFound
from toolcrib.host import Host
from toolcrib.host.chat_services import Told
from toolcrib.operations.operation import (
    LAZY,
    operation,
)
from toolcrib.operations.results.chats import (
    ChatExport,
    ChatHit,
    ChatInfo,
    ChatList,
    ChatState,
    ChatSummary,
    ChatTools,
    ChatView,
    ChatWhole,
    RunningTurn,
)
from toolcrib.operations.results.models import ChatClosed
from toolcrib.schema.json_values import moment
from toolcrib.store.chat_rows import ChatStanding, beside_loop


@operation(page=True)
async def chats(
    host: Host,
    *,
    limit: Annotated[int, Field(ge=1, le=500)] = 50,
    before: datetime | None = None,
    deleted: bool = False,
) -> ChatList:
    """List chats with their state: first all that are pinned, then the others, newest first.

    `before`: only chats last used before this time, without the pinned ones.
    `deleted`: list deleted chats that can still be restored.
    """
    if deleted:
        gone = list(await host.chats.store.deleted(limit))
        return {"chats": await summaries(host, gone, deleted=True), "more": False}
    pinned = list(await host.chats.store.pinned()) if before is None else []
    listed = list(await host.chats.store.list(limit + 1, before=before))
    others = [info for info in listed[:limit] if info.pinned_at is None]
    return {"chats": await summaries(host, [*pinned, *others]), "more": len(listed) > limit}


@operation(page=True)
async def chats_search(
    host: Host,
    query: Annotated[str, Field(min_length=1, max_length=500)],
    *,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> list[ChatHit]:
    """Find chats with all words of the query, or parts of words, in the title or in one message.

    The latest chat comes first, each once.
    """
    found = await host.chats.store.search(query, limit)
    return [
        {
            "chat": hit.info.id,
            "title": hit.info.title,
            "excerpt": hit.excerpt,
            "time": moment(hit.info.updated),
            "position": hit.position,
        }
        for hit in found
    ]


@operation(page=True)
async def chat_pin(host: Host, chat: str, *, pinned: bool = True) -> ChatSummary:
    """Pin a chat to the top of the list, or unpin it.

    Raises `NotFound`.
    """
    info = await host.chats.store.pin(chat, pinned=pinned)
    return (await summaries(host, [info]))[0]


@operation(page=True)
async def chat_list(host: Host, *, limit: Annotated[int, Field(ge=1, le=10_000)] = 50) -> list[ChatInfo]:
    """List chats, newest first."""
    chats = list(await host.chats.store.list(limit))
    states = await states_of(host, chats)
    return [cast("ChatInfo", {**chat_info_json(info), "state": states[info.id]}) for info in chats]


@operation(page=True)
async def chat_show(host: Host, chat: str) -> ChatWhole:
    """Show a whole chat.

    Raises `NotFound`.
    """
    found = await host.chats.store.load(chat)
    states = await states_of(host, [found.info])
    whole = await beside_loop(found.entries, chat_json, found)
    return cast("ChatWhole", {**whole, "state": states[found.id]})


@operation(page=True)
async def chat_view(
    host: Host,
    chat: str,
    *,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 60,
    before: Annotated[int | None, Field(ge=0)] = None,
    until: Annotated[int | None, Field(ge=0)] = None,
) -> ChatView:
    """Show the turns of a chat, and the running one.

    Raises `NotFound`.
    `limit`: how many turns, the latest ones.
    `before`: only turns that begin before this position.
    `until`: the chat as it was with so many entries, such as before a question was asked again.
    """
    found = await host.chats.store.load(chat)
    # What is told is taken before what is kept: a turn that ends in between is then shown twice by its
    # number, which the page notices, and never not at all.
    told = host.chats.news.of(found.id)
    every = await host.chats.rows.read(found.id)
    entries = _ended(every, told) if until is None else [one for one in every if one.position < until]
    turns = await beside_loop(entries, replay, entries, host.chats.words, len(host.answering_tools()))
    wanted = [turn for turn in turns if before is None or turn.position < before]
    took, asked_again = found.took(), versions(every)
    return {
        "chat": (await summaries(host, [found.info]))[0],
        "turns": [_with_versions(turn_json(turn), asked_again) for turn in wanted[-limit:]],
        "earlier": max(0, len(wanted) - limit),
        "running": _running(told) if before is None and until is None else None,
        "usage": cast("Any", asdict(took.usage)),
        "cost": took.cost,
        "calls": sum(len(turn.calls) for turn in turns),
        "pinned": list(found.info.pinned),
        "banned": list(found.info.banned),
        "project": host.settings.terminal.folder,
    }


def _with_versions(turn: ChatTurn, asked_again: Mapping[int, list[QuestionVersion]]) -> ChatTurn:
    found = asked_again.get(turn["position"])
    return turn if found is None else {**turn, "versions": found}


def _running(told: Told | None) -> RunningTurn | None:
    if told is None:
        return None
    events = cast("Any", told.events if told.running else [])
    return {"turn": told.turn, "n": told.number, "running": told.running, "events": events}


def _ended(entries: list[StoredEntry], told: Told | None) -> list[StoredEntry]:
    """Without those of the running turn, which its events report."""
    if told is None or not told.running:
        return entries
    return [entry for entry in entries if entry.position < told.since]


@operation(page=True)
async def chat_rename(
    host: Host, chat: str, *, title: Annotated[str, Field(min_length=1, max_length=200)] = "Untitled"
) -> ChatSummary:
    """Rename a chat.

    Raises `NotFound`.
    """
    info = await host.chats.store.rename(chat, title)
    return (await summaries(host, [info]))[0]


@operation(page=True)
async def chat_tools(
    host: Host, chat: str, *, pinned: tuple[str, ...] | None = None, banned: tuple[str, ...] | None = None
) -> ChatTools:
    """Set which tools a chat always offers to the model, and which never.

    Applies from the next turn. Raises `NotFound`.
    """
    info = await host.chats.store.choose_tools(chat, pinned=pinned, banned=banned)
    return {"chat": info.id, "pinned": list(info.pinned), "banned": list(info.banned)}


@operation(page=True)
async def chat_fork(host: Host, chat: str, *, entries: Annotated[int | None, Field(ge=0)] = None) -> ChatInfo:
    """Start a new chat from the beginning of another.

    Raises `NotFound`.
    """
    forked = await host.chats.store.fork(chat, entries)
    states = await states_of(host, [forked.info])
    return cast("ChatInfo", {**chat_info_json(forked.info), "state": states[forked.id]})


@operation(page=True)
async def chat_file(host: Host, chat: str, key: str) -> FileText:
    """Show the text of a file that was attached to a question.

    Raises `NotFound`.
    """
    found = await host.chats.store.load(chat)
    file = next((file for file in found.files if file.key == key), None)
    if file is None:
        raise NotFound(f"There is no file {key!r} in this chat.")
    return {"name": file.name, "text": file.text}


_LONGEST_NAME = 60


@operation(page=True)
async def chat_export(host: Host, chat: str, *, form: Literal["markdown", "json"] = "markdown") -> ChatExport:
    """Export a chat as Markdown or JSON.

    Raises `NotFound`.
    """
    found = await host.chats.store.load(chat)
    name = re.sub(r"[^\w-]+", "-", found.info.title).strip("-")[:_LONGEST_NAME] or found.id
    if form == "json":
        text = await beside_loop(found.entries, _json_text, found)
        return {"name": f"{name}.json", "mime": "application/json", "text": text}
    text = await beside_loop(found.entries, as_markdown, found)
    return {"name": f"{name}.md", "mime": "text/markdown", "text": text}


def _json_text(chat: Chat) -> str:
    return json.dumps(chat_json(chat), ensure_ascii=False, indent=2)


@operation(page=True, needs=LAZY)
async def chat_close(host: Host, chat: str) -> ChatClosed:
    """Stop the servers and processes that run for this chat alone; the chat itself stays."""
    await host.rest_session(agent_principal(chat))
    return {"chat": chat}


@operation(page=True)
async def chat_delete(host: Host, chat: str) -> ChatSummary:
    """Delete a chat and stop what runs for it; `chat_restore` can undo it for a while.

    Raises `NotFound`.
    """
    found = await host.chats.store.load(chat)
    turn = host.chats.turns.of(found.id)
    if turn is not None and turn.running:
        await turn.stop()
    await host.rest_session(agent_principal(found.id))
    info = await host.chats.store.delete(found.id)
    return (await summaries(host, [info], deleted=True))[0]


@operation(page=True)
async def chat_restore(host: Host, chat: str) -> ChatSummary:
    """Restore a deleted chat.

    Raises `NotFound` if it is gone for good.
    """
    info = await host.chats.store.restore(chat)
    return (await summaries(host, [info]))[0]


_ENDINGS: Mapping[str | None, ChatState] = {
    None: "empty",
    "answered": "done",
    "budget": "done",
    "cut": "done",
    "refused": "done",
    "filtered": "done",
    "unknown": "done",
    "stopped": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
}


async def summaries(host: Host, chats: Sequence[StoredChat], *, deleted: bool = False) -> list[ChatSummary]:
    """These chats as a list shows them."""
    standings = await host.chats.rows.standings([(info.id, info.entries) for info in chats])
    return [_summary(host, info, standings[info.id], deleted=deleted) for info in chats]


async def states_of(host: Host, chats: Sequence[StoredChat]) -> dict[str, ChatState]:
    """How each of these chats stands, by its id."""
    return {chat["id"]: chat["state"] for chat in await summaries(host, chats)}


def _summary(host: Host, info: StoredChat, standing: ChatStanding, *, deleted: bool) -> ChatSummary:
    told = host.chats.news.of(info.id)
    questions = host.chats.news.questions(info.id)
    state = _ENDINGS.get(standing.ending, "done")
    if told is not None and told.running:
        state = "asking" if questions else "running"
    shown = {
        **chat_info_json(info),
        "state": state,
        "questions": questions,
        "calls": standing.calls,
        "reason": standing.reason,
        "on_top": info.pinned_at is not None,
        "deleted": deleted,
    }
    return cast("ChatSummary", shown)

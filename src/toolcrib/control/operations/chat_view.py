"""`chat_view`: a chat as a page shows it, turn by turn, with what the latest one is doing right now."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from pydantic import Field

from toolcrib.control.answers.chat_events import RunningTurn
from toolcrib.control.answers.chat_view import ChatView
from toolcrib.control.answers.chats import ChatTurn
from toolcrib.control.chat_standing import summaries
from toolcrib.control.chat_starting import default_project
from toolcrib.control.chat_turns import Row, turns_of
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import moment
from toolcrib.host import Host
from toolcrib.host.chat_news import Told
from toolcrib.store.chat_rows import ChatRow

FOR_PAGES = True


class Params(OperationParams):
    """Which chat, and how much of it."""

    chat: str
    limit: int = Field(default=60, ge=1, le=10_000)
    """How many turns, the latest ones."""
    before: int | None = Field(default=None, ge=0)
    """Only turns that begin before this position, to read further up."""


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ChatView:
    """The chat; raises `NotFound`."""
    chat = await host.chats.load(params.chat)
    # What is told is taken before what is kept: a turn that ends in between is then shown twice by its
    # number, which the page notices, and never not at all.
    told = host.chat_news.of(chat.id)
    rows = [row_of(row) for row in await host.chat_rows.read(chat.id)]
    turns = turns_of(_ended(rows, told), host.chat_words, len(host.tools()))
    wanted = [turn for turn in turns if params.before is None or turn["position"] < params.before]
    took = chat.took()
    return {
        "chat": (await summaries(host, [chat.info]))[0],
        "turns": wanted[-params.limit :],
        "earlier": max(0, len(wanted) - params.limit),
        "running": _running(told) if params.before is None else None,
        "usage": cast("Any", asdict(took.usage)),
        "cost": took.cost,
        "calls": _calls(turns),
        "pinned": list(chat.info.pinned),
        "banned": list(chat.info.banned),
        "project": default_project(host),
    }


def row_of(row: ChatRow) -> Row:
    """An entry of the store as turns are made of it."""
    return Row(position=row.position, time=moment(row.time), kind=row.kind, body=row.body)


def _running(told: Told | None) -> RunningTurn | None:
    if told is None:
        return None
    events = cast("Any", told.events if told.running else [])
    return {"turn": told.turn, "n": told.number, "running": told.running, "events": events}


def _ended(rows: list[Row], told: Told | None) -> list[Row]:
    """Without what belongs to the running turn, which its events tell."""
    if told is None or not told.running:
        return rows
    return [row for row in rows if row.position < told.since]


def _calls(turns: list[ChatTurn]) -> int:
    return sum(item["kind"] == "call" for turn in turns for item in turn["items"])

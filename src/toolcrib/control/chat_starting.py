"""Starts turns that run in the host by themselves, and tells everybody who listens of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from toolcrib.agent import Agent
from toolcrib.agent.agent import question, title_of
from toolcrib.agent.chat import Chat
from toolcrib.agent.live import LiveTurn
from toolcrib.control.shapes import moment
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.advice import no_model
from toolcrib.llm.retry import hearing_of_waits
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import Image

SETTLE = 3.0
"""Seconds to wait for servers that are just starting; those that take longer are not offered yet."""


async def agent_for(
    host: Host, chat: Chat | None, *, model: str | None = None, mode: Mode | None = None, project: str = ""
) -> Agent:
    """An agent whose person is asked by events; raises `NoModel` with what could be done."""
    if not host.lent:
        host.open_workspace_tools()
    name = model or (chat.info.model if chat is not None else None)
    try:
        chosen = host.models.choose(name)
    except NoModel:
        raise await no_model(host.models) from None
    person = host.chat_news.person(host.client_requests.questions)
    return host.agent(chosen, person=person, mode=mode, project=project or default_project(host))


async def start_turn(
    host: Host,
    agent: Agent,
    chat: Chat | None,
    text: str,
    images: Sequence[Image] = (),
    *,
    pinned: Sequence[str] = (),
    banned: Sequence[str] = (),
) -> LiveTurn:
    """Begin a turn that every surface can follow; raises `UsageError` while the chat is busy.

    The question is in the store when this returns. A new chat always and never offers these tools.
    """
    if chat is None:
        asked = [question(text, images)]
        title = title_of(text)
        new = await host.chats.create(
            agent.model.name, title=title, entries=asked, pinned=pinned, banned=banned
        )
        with _telling_waits(host, new.id):
            turn = host.turns.answer(agent, new)
    else:
        with _telling_waits(host, chat.id):
            turn = await host.turns.start(agent, text, chat=chat, images=images)
    shown = [{"mime": one.mime, "data": one.data} for one in images]
    return await _followed(host, turn, text, shown)


async def resume_turn(host: Host, agent: Agent, chat: Chat) -> LiveTurn:
    """Begin to continue the last answer of a chat; raises `UsageError` when it is complete, or busy."""
    with _telling_waits(host, chat.id):
        turn = host.turns.resume(agent, chat)
    return await _followed(host, turn, None, [])


def _telling_waits(host: Host, chat: str) -> AbstractContextManager[None]:
    return hearing_of_waits(lambda error, seconds: host.chat_news.busy(chat, error.message, seconds))


async def _followed(
    host: Host, turn: LiveTurn, text: str | None, images: Sequence[Mapping[str, str]]
) -> LiveTurn:
    now = moment(datetime.now(UTC))
    first = {"event": "question", "text": text, "images": images, "pictures": len(images), "time": now}
    host.chat_news.follow(turn, first)
    await asyncio.sleep(0)  # The turn hands its question to the store in its first step.
    await host.chats.flush()
    return turn


def default_project(host: Host) -> str:
    """The folder that the settings say a person works in; empty when they say none."""
    return host.settings.terminal.folder


async def settled(host: Host, seconds: float = SETTLE) -> None:
    """Wait a little while servers are starting."""
    try:
        async with asyncio.timeout(seconds):
            await host.servers.settle()
    except TimeoutError:
        pass

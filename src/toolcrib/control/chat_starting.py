"""Starts turns that run in the host by themselves, and tells everybody who listens of them."""

from __future__ import annotations

import asyncio

from toolcrib.agent import Agent
from toolcrib.agent.chat import Chat
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.advice import no_model
from toolcrib.schema.approvals import Mode

SETTLE = 3.0
"""Seconds to wait for servers that are just starting; those that take longer are not offered yet."""


async def agent_for(
    host: Host, chat: Chat | None, *, model: str | None = None, mode: Mode | None = None, project: str = ""
) -> Agent:
    """An agent whose person is asked by events; raises `NoModel` with what could be done."""
    if not host.lent:
        host.open_workbench()
    name = model or (chat.info.model if chat is not None else None)
    try:
        chosen = host.models.choose(name)
    except NoModel:
        raise await no_model(host.models) from None
    person = host.chat_news.person(host.desk.questions)
    return host.agent(chosen, person=person, mode=mode, project=project or default_project(host))


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

"""`ask`: answer a question with a model and the tools, in a new chat or in one that goes on."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Self, cast

from pydantic import Field, model_validator

from toolcrib.agent import Agent
from toolcrib.agent.agent import agent_principal
from toolcrib.agent.chat import Chat
from toolcrib.agent.events import TurnEnded, event_json
from toolcrib.agent.live import LiveTurn
from toolcrib.agent.pictures import attached_picture
from toolcrib.control.answers.models import Answered, AnswerEvent
from toolcrib.control.chat_shapes import answer_json
from toolcrib.control.chat_starting import resume_turn, start_turn
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import Configured, Emit, Needs
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.advice import no_model
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import Image


class Picture(OperationParams):
    """An image that belongs to the question."""

    data: str
    mime: str = "image/png"


Event = AnswerEvent
FOR_PAGES = False  # it uses the environment of the caller and ends with the request; pages use `chat_send`


STOPPING = 10.0
"""Seconds for which a question waits for the end of the one before it in its chat, if that was stopped."""


class Params(OperationParams):
    """The question, who answers it, and where it belongs."""

    text: str = ""
    resume: bool = False
    """Continue the last answer of `chat`, which ended early, instead of asking `text`."""
    model: str | None = None
    """As the settings say when it is left out; in a chat that goes on, as before."""
    chat: str | None = None
    """A chat to go on with: its id, the beginning of it, or `last`."""
    images: tuple[Picture, ...] = ()
    max_rounds: int | None = Field(default=None, ge=1, le=1000)
    person: bool = False
    """Whether somebody is there who answers questions (`chat_reply`); else they are declined."""
    mode: Mode | None = None
    """When the person is asked; None for what the settings say."""
    project: str = ""
    """The folder that the person works in."""
    keep: bool = False
    """Whether servers of their own for this chat go on running, for the next question."""
    environ: dict[str, str] = Field(default_factory=dict, repr=False)
    """Variables of whoever asks that say how vendors are reached; they come before the host's own."""
    wait: float = Field(default=20.0, ge=0, le=3600)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.resume == bool(self.text) or (self.resume and not self.chat):
            raise ValueError("give either `text`, or `resume` and a `chat`")
        return self


def needs(params: Params, configured: Configured) -> Needs:
    """All servers; those with a known tool list start when they are called."""
    return Needs(lazy=True)


async def run(host: Host, params: Params, emit: Emit) -> Answered:
    """`{answer, rounds, calls, usage, …}`; emits the events of the turn on the way."""
    images = [attached_picture(one.data, one.mime) for one in params.images]
    try:
        async with asyncio.timeout(params.wait):
            await host.servers.settle()
    except TimeoutError:
        pass
    if not host.lent:
        host.open_workspace_tools()
    chat = await _free_chat(host, params.chat) if params.chat else None
    name = params.model or (chat.info.model if chat is not None else None)
    models = host.models.lend(params.environ) if params.environ else host.models
    try:
        chosen = models.choose(name)
    except NoModel:
        raise await no_model(models) from None
    model = models.get(chosen)
    person = host.chat_news.person(host.client_requests.questions) if params.person else None
    agent = host.agent(
        model, person=person, mode=params.mode, project=params.project, max_rounds=params.max_rounds
    )
    try:
        turn = await _start(host, agent, chat, params.text, images, resume=params.resume)
        try:
            return await _follow(turn, emit)
        finally:
            if turn.running:
                await turn.stop()
            if not params.keep:
                await host.rest_session(agent_principal(turn.chat))
    finally:
        if models is not host.models:
            await models.close()


async def _start(
    host: Host, agent: Agent, chat: Chat | None, text: str, images: list[Image], *, resume: bool
) -> LiveTurn:
    if resume and chat is not None:
        return await resume_turn(host, agent, chat)
    return await start_turn(host, agent, chat, text, images)


async def _follow(turn: LiveTurn, emit: Emit) -> Answered:
    """Tell what happens until it ends; a page that has the chat open is told the same."""
    async with aclosing(turn.follow()) as events:
        async for _, event in events:
            if not isinstance(event, TurnEnded):
                await emit(event_json(event))
            elif event.failure is not None:
                raise event.failure
            else:
                return cast("Answered", answer_json(event))
    raise AssertionError("a turn ends with its end")


async def _free_chat(host: Host, wanted: str) -> Chat:
    """The chat, once nothing runs in it any more: who stops an answer by hanging up does not see its end."""
    chat = await host.chats.load(wanted)
    if not _is_busy(host, chat.id):
        return chat
    try:
        async with asyncio.timeout(STOPPING):
            while _is_busy(host, chat.id):  # noqa: ASYNC110 - it is over in a moment, or it is not ours
                await asyncio.sleep(0.02)
    except TimeoutError:
        return chat
    return await host.chats.load(chat.id)


def _is_busy(host: Host, chat: str) -> bool:
    latest = host.turns.of(chat)
    return chat in host.chats.busy or (latest is not None and latest.running)

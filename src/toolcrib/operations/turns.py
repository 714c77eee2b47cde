"""Turns of a chat: ask, continue, stop, call a tool again. Number and size of pictures, which model answers,
and how long a question waits for servers that are starting."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, aclosing
from datetime import UTC, datetime
from typing import Annotated, Any, Self, cast

from pydantic import Field, model_validator

from toolcrib.agent import Agent
from toolcrib.agent.agent import agent_principal, question, title_of
from toolcrib.agent.chat import Chat
from toolcrib.agent.events import TurnEnded, event_json
from toolcrib.agent.export import answer_json
from toolcrib.agent.live import LiveTurn
from toolcrib.chats.turn_json import whole_call
from toolcrib.chats.wire import CallWhole
from toolcrib.config.settings import Effort
from toolcrib.errors import NoModel, UsageError
from toolcrib.host import Host
from toolcrib.llm.models import ModelRegistry
from toolcrib.llm.pictures import attached_picture
from toolcrib.llm.vendor_model import hearing_of_waits
from toolcrib.llm.vendors import no_model
from toolcrib.operations.lookup import servers_settled, settled
from toolcrib.operations.operation import (
    LAZY,
    RUNNING,
    Emit,
    Invocation,
    JsonObject,
    OperationParams,
    operation,
)
from toolcrib.operations.results.chats import CallStopped, TurnStarted, TurnStopped
from toolcrib.operations.results.models import Answered, AnswerEvent
from toolcrib.schema.approvals import Mode
from toolcrib.schema.json_values import moment
from toolcrib.schema.messages import Image


class QuestionPicture(OperationParams):
    """An image that belongs to the question."""

    data: str
    mime: str = "image/png"


STOPPING = 10.0
"""Seconds for which a question waits for the end of the one before it in its chat, if that was stopped."""


class AskParams(OperationParams):
    """The question, who answers it, and where it belongs."""

    text: str = ""
    resume: bool = False
    """Continue the last answer of `chat`, which ended early, instead of asking `text`."""
    model: str | None = None
    """As the settings say when it is left out; in a chat that goes on, as before."""
    chat: str | None = None
    """A chat to go on with: its id, the beginning of it, or `last`."""
    images: tuple[QuestionPicture, ...] = ()
    max_rounds: int | None = Field(default=None, ge=1, le=1000)
    effort: Effort | None = None
    """How much the model thinks; None for what the settings say."""
    person: bool = False
    """Whether a user answers questions (`chat_reply`); without one they are declined."""
    mode: Mode | None = None
    """When the person is asked; None for what the settings say."""
    project: str = ""
    """The folder that the person works in."""
    keep: bool = False
    """Whether servers of their own for this chat go on running, for the next question."""
    environ: dict[str, str] = Field(default_factory=dict, repr=False)
    """The caller's variables for reaching vendors; they override the host's."""
    wait: float = Field(default=20.0, ge=0, le=3600)

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if self.resume == bool(self.text) or (self.resume and not self.chat):
            raise ValueError("give either `text`, or `resume` and a `chat`")
        return self


@operation(needs=LAZY)
async def ask(host: Host, invocation: Invocation[AnswerEvent], params: AskParams) -> Answered:
    """Ask a question in a new chat or an existing one, and wait for the answer.

    Emits the events of the turn.
    """
    images = [attached_picture(image.data, image.mime) for image in params.images]
    await servers_settled(host, params.wait)
    if not host.lent:
        host.open_workspace_tools()
    chat = await _free_chat(host, params.chat) if params.chat else None
    models = host.chats.models.lend(params.environ) if params.environ else host.chats.models
    model = models.get(await _chosen(models, params.model, chat))
    person = host.chats.news.person(host.chats.questions) if params.person else None
    agent = host.agent(
        model,
        person=person,
        mode=params.mode,
        project=params.project,
        max_rounds=params.max_rounds,
        effort=params.effort,
    )
    try:
        turn = await _start(host, agent, chat, params.text, images, resume=params.resume)
        try:
            return await _follow(turn, invocation.emit)
        finally:
            if turn.running:
                await turn.stop()
            if not params.keep:
                await host.rest_session(agent_principal(turn.chat))
    finally:
        if models is not host.chats.models:
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
    chat = await host.chats.store.load(wanted)
    if not _is_busy(host, chat.id):
        return chat
    try:
        async with asyncio.timeout(STOPPING):
            while _is_busy(host, chat.id):  # noqa: ASYNC110 - it is over in a moment, or it is not ours
                await asyncio.sleep(0.02)
    except TimeoutError:
        return chat
    return await host.chats.store.load(chat.id)


def _is_busy(host: Host, chat: str) -> bool:
    latest = host.chats.turns.of(chat)
    return chat in host.chats.store.busy or (latest is not None and latest.running)


MOST_PICTURES = 8
LARGEST_PICTURE = 5_000_000
"""Characters of base64; the strictest vendor takes 5 MB."""


class Picture(OperationParams):
    """An image that belongs to the question."""

    data: str = Field(max_length=LARGEST_PICTURE)
    mime: str = Field(default="image/png", pattern=r"^image/(png|jpeg|gif|webp)$")


@operation(page=True, needs=RUNNING)
async def chat_send(
    host: Host,
    text: Annotated[str, Field(min_length=1, max_length=1_000_000)],
    *,
    chat: str | None = None,
    model: str | None = None,
    mode: Mode | None = None,
    project: str = "",
    images: Annotated[tuple[Picture, ...], Field(max_length=MOST_PICTURES)] = (),
    pinned: tuple[str, ...] | None = None,
    banned: tuple[str, ...] | None = None,
) -> TurnStarted:
    """Ask something in a chat; the turn runs in the background.

    Events come over `/api/live`.
    `chat`: the chat to continue; a new one if missing.
    `model`: that of the chat or of the settings if missing.
    `pinned`: tools that this chat always offers; unchanged if missing.
    """
    pictures = [attached_picture(image.data, image.mime) for image in images]
    found = await host.chats.store.load(chat) if chat else None
    agent = await agent_for(host, found, model=model, mode=mode, project=project)
    if pictures and not (await agent.model.traits()).images:
        raise UsageError(
            f"{agent.model.name} cannot see pictures.", hint="Send without it, or choose another model."
        )
    await settled(host, SETTLE)
    if found is not None and (pinned is not None or banned is not None):
        found.info = await host.chats.store.choose_tools(found.id, pinned=pinned, banned=banned)
    turn = await start_turn(host, agent, found, text, pictures, pinned=pinned or (), banned=banned or ())
    return {"chat": turn.chat, "turn": turn.id}


@operation(page=True, needs=RUNNING)
async def chat_continue(
    host: Host, chat: str, *, model: str | None = None, mode: Mode | None = None
) -> TurnStarted:
    """Continue the last answer of a chat, which was interrupted, stopped or failed.

    Raises `UsageError` if the last answer is complete.
    `model`: the chat's model if missing.
    """
    found = await host.chats.store.load(chat)
    agent = await agent_for(host, found, model=model, mode=mode)
    await settled(host, SETTLE)
    turn = await resume_turn(host, agent, found)
    return {"chat": turn.chat, "turn": turn.id}


@operation(page=True, needs=RUNNING)
async def chat_stop(host: Host, chat: str) -> TurnStopped:
    """Stop the running turn of a chat, with everything its tools started.

    A chat without a running turn is not an error.
    """
    turn = host.chats.turns.of(chat)
    if turn is None or not turn.running:
        return {"chat": chat, "turn": None, "ending": None}
    ended = await turn.stop()
    return {"chat": chat, "turn": turn.id, "ending": ended.ending}


@operation(page=True)
async def chat_result(host: Host, chat: str, *, call: str = "call_1") -> CallWhole:
    """Show the whole result of one call of a chat, with pictures.

    Raises `NotFound`, also while it is running.
    """
    found = await host.chats.store.load(chat)
    return whole_call(await host.chats.rows.read(found.id), call)


@operation(page=True, needs=RUNNING)
async def call_again(
    host: Host,
    chat: str,
    *,
    call: str | None = None,
    tool: str = "",
    arguments: JsonObject,
    mode: Mode | None = None,
) -> TurnStarted:
    """Call a tool in a chat by hand, with the same approval as the model's calls.

    Raises `NotFound`, or `UsageError` while a turn of the chat is running.
    `call`: repeat this finished call.
    """
    found = await host.chats.store.load(chat)
    if call is not None:
        before = whole_call(await host.chats.rows.read(found.id), call)
        tool, arguments = before["tool"], before["arguments"]
    agent = await agent_for(host, found, mode=mode)
    turn = await host.chats.turns.call(agent, found, tool, arguments)
    now = moment(datetime.now(UTC))
    first: dict[str, Any] = {"event": "question", "text": None, "images": [], "pictures": 0, "time": now}
    host.chats.news.follow(turn, first)
    return {"chat": turn.chat, "turn": turn.id}


@operation(page=True, needs=RUNNING)
async def call_stop(host: Host, chat: str, call: str) -> CallStopped:
    """Stop one call of a running turn; the turn continues and the model is told.

    A finished call is not an error.
    """
    turn = host.chats.turns.of(chat)
    stopped = turn is not None and turn.running and await turn.stop_call(call)
    return {"chat": chat, "call": call, "stopped": stopped}


SETTLE = 3.0
"""Seconds to wait for servers that are just starting; those that take longer are not offered yet."""


async def agent_for(
    host: Host, chat: Chat | None, *, model: str | None = None, mode: Mode | None = None, project: str = ""
) -> Agent:
    """An agent whose person is asked by events; raises `NoModel` with what could be done."""
    if not host.lent:
        host.open_workspace_tools()
    chosen = await _chosen(host.chats.models, model, chat)
    person = host.chats.news.person(host.chats.questions)
    return host.agent(chosen, person=person, mode=mode, project=project or host.settings.terminal.folder)


async def _chosen(models: ModelRegistry, model: str | None, chat: Chat | None) -> str:
    """The model that was named, the chat's, or that of the settings."""
    try:
        return models.choose(model or (chat.info.model if chat is not None else None))
    except NoModel:
        raise await no_model(models) from None


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
        new = await host.chats.store.create(
            agent.model.name, title=title, entries=asked, pinned=pinned, banned=banned
        )
        with _telling_waits(host, new.id):
            turn = host.chats.turns.answer(agent, new)
    else:
        with _telling_waits(host, chat.id):
            turn = await host.chats.turns.start(agent, text, chat=chat, images=images)
    shown = [{"mime": image.mime, "data": image.data} for image in images]
    return await _followed(host, turn, text, shown)


async def resume_turn(host: Host, agent: Agent, chat: Chat) -> LiveTurn:
    """Begin to continue the last answer of a chat; raises `UsageError` when it is complete, or busy."""
    with _telling_waits(host, chat.id):
        turn = host.chats.turns.resume(agent, chat)
    return await _followed(host, turn, None, [])


def _telling_waits(host: Host, chat: str) -> AbstractContextManager[None]:
    return hearing_of_waits(lambda error, seconds: host.chats.news.busy(chat, error.message, seconds))


async def _followed(
    host: Host, turn: LiveTurn, text: str | None, images: Sequence[Mapping[str, str]]
) -> LiveTurn:
    now = moment(datetime.now(UTC))
    first = {"event": "question", "text": text, "images": images, "pictures": len(images), "time": now}
    host.chats.news.follow(turn, first)
    await asyncio.sleep(0)  # The turn hands its question to the store in its first step.
    await host.chats.store.flush()
    return turn

"""Turns of a chat: ask, ask again, continue, stop, call a tool again. Number and size of pictures, which
model answers, and how long a question waits for servers that are starting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager, aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Self, cast

from pydantic import Field, model_validator

from toolcrib.agent import Agent
from toolcrib.agent.agent import agent_principal, question, title_of
from toolcrib.agent.attached_files import LONGEST_FILE, MOST_FILES, attach
from toolcrib.agent.chat import Chat, Said
from toolcrib.agent.events import TurnEnded, event_json
from toolcrib.agent.export import answer_json
from toolcrib.agent.live import LiveTurn
from toolcrib.chats.attached import attached_json
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
from toolcrib.operations.operation import LAZY, RUNNING, Emit, Invocation, JsonObject, operation
from toolcrib.operations.params_model import OperationParams
from toolcrib.operations.results.chats import CallStopped, TurnStarted, TurnStopped
from toolcrib.operations.results.models import Answered, AnswerEvent
from toolcrib.schema.approvals import Mode
from toolcrib.schema.json_values import moment
from toolcrib.schema.messages import FromUser, Image


class QuestionPicture(OperationParams):
    """An image that belongs to the question."""

    data: str
    mime: str = "image/png"


class QuestionFile(OperationParams):
    """A text file that belongs to the question."""

    name: str = Field(min_length=1, max_length=1000)
    text: str = Field(max_length=LONGEST_FILE)


Files = Annotated[tuple[QuestionFile, ...], Field(max_length=MOST_FILES)]

STOPPING = 10.0
"""Seconds for which a question waits for the end of the one before it in its chat, if that was stopped."""


class AskParams(OperationParams):
    """The question, who answers it, and where it belongs."""

    text: str = ""
    resume: bool = False
    """Continue the last answer of `chat`, which ended early, instead of asking `text`."""
    again: bool = False
    """Ask the last question of `chat` again, or `text` in its place; what it led to so far is replaced."""
    model: str | None = None
    """As the settings say when it is left out; in a chat that goes on, as before."""
    chat: str | None = None
    """A chat to go on with: its id, the beginning of it, or `last`."""
    images: tuple[QuestionPicture, ...] = ()
    files: Files = ()
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
        if self.again and (self.resume or not self.chat):
            raise ValueError("`again` needs a `chat`, and no `resume`")
        if not self.again and (self.resume == bool(self.text) or (self.resume and not self.chat)):
            raise ValueError("give either `text`, or `resume` and a `chat`")
        return self


@operation(needs=LAZY)
async def ask(host: Host, invocation: Invocation[AnswerEvent], params: AskParams) -> Answered:
    """Ask a question in a new chat or an existing one, and wait for the answer.

    Emits the events of the turn.
    """
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
        turn = await _start(host, agent, chat, params)
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


async def _start(host: Host, agent: Agent, chat: Chat | None, params: AskParams) -> LiveTurn:
    if params.resume and chat is not None:
        return await resume_turn(host, agent, chat)
    replaces = None
    if params.again and chat is not None:
        replaces, before = chat.question()
        if not params.text:
            return await start_turn(host, agent, chat, replace(before, replaces=replaces))
    asked = await _asked(agent, chat, params.text, params.images, params.files, replaces)
    return await start_turn(host, agent, chat, asked)


async def _asked(
    agent: Agent,
    chat: Chat | None,
    text: str,
    images: Sequence[QuestionPicture | Picture],
    files: Sequence[QuestionFile],
    replaces: int | None = None,
) -> Said:
    """A question with its pictures and files; raises `UsageError` for those that cannot be sent."""
    pictures = [attached_picture(image.data, image.mime) for image in images]
    attached = attach(files, chat, (await agent.model.traits()).context_tokens) if files else ()
    return question(text, pictures, files=attached, replaces=replaces)


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
    files: Files = (),
    replaces: Annotated[int | None, Field(ge=0)] = None,
    pinned: tuple[str, ...] | None = None,
    banned: tuple[str, ...] | None = None,
) -> TurnStarted:
    """Ask something in a chat; the turn runs in the background.

    Events come over `/api/live`.
    `chat`: the chat to continue; a new one if missing.
    `files`: text files; of long ones the model is shown the beginning, and can read on.
    `replaces`: the position of a question that this one replaces, with all that followed; both are kept.
    `model`: that of the chat or of the settings if missing.
    `pinned`: tools that this chat always offers; unchanged if missing.
    """
    found = await host.chats.store.load(chat) if chat else None
    if replaces is not None:
        if found is None:
            raise UsageError("`replaces` needs a `chat`.")
        found.question(replaces)
    agent = await agent_for(host, found, model=model, mode=mode, project=project)
    asked = await _asked(agent, found, text, images, files, replaces)
    if images and not (await agent.model.traits()).images:
        raise UsageError(
            f"{agent.model.name} cannot see pictures.", hint="Send without it, or choose another model."
        )
    await settled(host, SETTLE)
    if found is not None and (pinned is not None or banned is not None):
        found.info = await host.chats.store.choose_tools(found.id, pinned=pinned, banned=banned)
    turn = await start_turn(host, agent, found, asked, pinned=pinned or (), banned=banned or ())
    return {"chat": turn.chat, "turn": turn.id}


@operation(page=True, needs=RUNNING)
async def chat_retry(
    host: Host,
    chat: str,
    *,
    position: Annotated[int | None, Field(ge=0)] = None,
    model: str | None = None,
    mode: Mode | None = None,
) -> TurnStarted:
    """Answer a question of a chat again, with its pictures and files; the chat keeps the answer so far.

    Raises `NotFound` if there is no such question.
    `position`: of the question; the last one if missing. What followed it is replaced too.
    `model`: the chat's model if missing.
    """
    found = await host.chats.store.load(chat)
    asked_at, before = found.question(position)
    agent = await agent_for(host, found, model=model, mode=mode)
    await settled(host, SETTLE)
    turn = await start_turn(host, agent, found, replace(before, replaces=asked_at))
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
    host.chats.news.follow(turn, _question_event(None))
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
    asked: Said,
    *,
    pinned: Sequence[str] = (),
    banned: Sequence[str] = (),
) -> LiveTurn:
    """Begin a turn that every surface can follow; raises `UsageError` while the chat is busy.

    The question is in the store when this returns. A new chat always and never offers these tools.
    """
    if chat is None:
        new = await host.chats.store.create(
            agent.model.name, title=title_of(_text(asked)), entries=[asked], pinned=pinned, banned=banned
        )
        with _telling_waits(host, new.id):
            turn = host.chats.turns.answer(agent, new)
    else:
        with _telling_waits(host, chat.id):
            turn = host.chats.turns.ask(agent, chat, asked)
        _retitle(host, chat, asked)
    return await _followed(host, turn, asked)


def _text(asked: Said) -> str:
    return asked.message.text if isinstance(asked.message, FromUser) else ""


def _retitle(host: Host, chat: Chat, asked: Said) -> None:
    """A chat that is named after its first question follows it when that is changed."""
    if asked.replaces is None:
        return
    before = chat.entries[asked.replaces]
    first = next(iter(chat.questions()), "")
    if isinstance(before, Said) and _text(before) == first and chat.info.title == title_of(first):
        chat.info = replace(chat.info, title=title_of(_text(asked)))
        host.chats.store.change(chat.info)


async def resume_turn(host: Host, agent: Agent, chat: Chat) -> LiveTurn:
    """Begin to continue the last answer of a chat; raises `UsageError` when it is complete, or busy."""
    with _telling_waits(host, chat.id):
        turn = host.chats.turns.resume(agent, chat)
    return await _followed(host, turn, None)


def _question_event(asked: Said | None) -> dict[str, Any]:
    message = asked.message if asked is not None else None
    parts = message.parts if isinstance(message, FromUser) else ()
    images = [{"mime": part.mime, "data": part.data} for part in parts if isinstance(part, Image)]
    event: dict[str, Any] = {
        "event": "question",
        "text": None if asked is None else _text(asked),
        "images": images,
        "pictures": len(images),
        "time": moment(datetime.now(UTC)),
    }
    if asked is not None and asked.files:
        event["files"] = [attached_json(vars(file)) for file in asked.files]
    if asked is not None and asked.replaces is not None:
        event["replaces"] = asked.replaces
    return event


def _telling_waits(host: Host, chat: str) -> AbstractContextManager[None]:
    return hearing_of_waits(lambda error, seconds: host.chats.news.busy(chat, error.message, seconds))


async def _followed(host: Host, turn: LiveTurn, asked: Said | None) -> LiveTurn:
    """Tell of the turn from its question on; without one it continues an answer."""
    host.chats.news.follow(turn, _question_event(asked))
    await asyncio.sleep(0)  # The turn hands its question to the store in its first step.
    await host.chats.store.flush()
    return turn

"""The agent as its callers see it: questions in, events or an answer out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace

from toolcrib.agent.asking import ChatAsker, TurnGate
from toolcrib.agent.calling import Calling
from toolcrib.agent.chat import Chat, Entry
from toolcrib.agent.events import AgentEvent, CallEnded, TurnBegan, TurnEnded
from toolcrib.agent.offering import Forms, Offering
from toolcrib.agent.ports import Chats, Door, Person, Room
from toolcrib.agent.turn import Turn
from toolcrib.clock import Clock, SystemClock
from toolcrib.config.settings import AgentSettings
from toolcrib.llm.model import Model
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import FromPerson, Image, Text
from toolcrib.schema.tools import Principal

_TITLE = 60
Watch = Callable[[str, Model, "Person | None", Callable[[AgentEvent], None]], AbstractContextManager[None]]
"""Entered around each call with the tool's name, the chat's model, and who can be asked."""


@dataclass(kw_only=True)
class Agent:
    """Answers questions with one model and the host's tools; `host.agent()` makes one."""

    model: Model
    door: Door
    room: Room
    chats: Chats
    settings: AgentSettings
    forms: Forms = field(default_factory=Forms)
    clock: Clock = field(default_factory=SystemClock)
    person: Person | None = None
    """Who is asked when a server wants something of the person; without one, such requests are declined."""
    stop: Callable[[str], Awaitable[None]] | None = None
    """Called with the chat's id when a turn is stopped: ends what its tools left running."""
    gate: TurnGate | None = None
    """Told when a turn begins and ends, so that it can ask this chat's person."""
    project: str = ""
    """The folder that the person works in."""
    mode: Mode | None = None
    """When the person is asked; None for what the settings say."""
    watch: Watch = lambda tool, model, person, emit: nullcontext()

    async def ask(self, text: str, *, chat: Chat | None = None, images: Sequence[Image] = ()) -> TurnEnded:
        """The answer to a question; raises `ToolcribError` when there is none."""
        async with aclosing(self.run(text, chat=chat, images=images)) as events:
            async for event in events:
                if isinstance(event, TurnEnded):
                    if event.failure is not None:
                        raise event.failure
                    return event
        raise AssertionError("a turn ends with its end")

    async def run(
        self, text: str, *, chat: Chat | None = None, images: Sequence[Image] = ()
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer a question, telling what happens; the last event is `TurnEnded`.

        Closing the generator, or cancelling who reads it, stops everything: the model's stream, and the
        running tools in their servers. The chat can go on afterwards.
        """
        chat = chat or await self.chats.create(self.model.name, title=title_of(text))
        queue: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        turn = await self._turn(chat, queue.put_nowait)
        question = FromPerson(parts=(Text(text), *images))
        principal = turn.calling.principal
        if self.gate is not None:
            asker = None if self.person is None else ChatAsker(self.person, turn.emit)
            self.gate.begin(principal, asker=asker, project=self.project, mode=self.mode)
        task = asyncio.create_task(turn.run(question), name=f"turn of {chat.id}")
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            yield TurnBegan(chat=chat.id, model=self.model.name)
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            stopped = not task.done()
            task.cancel()
            await asyncio.wait([task])
            if stopped and self.stop is not None:
                await self.stop(chat.id)
            if self.gate is not None:
                self.gate.end_turn(principal)
            await asyncio.shield(self.chats.flush())

    async def _turn(self, chat: Chat, put: Callable[[AgentEvent], None]) -> Turn:
        traits = await self.model.traits()
        offering = Offering(self.room, self.forms, self.model.form, self.settings.offer_all)
        made: list[CallEnded] = []

        def emit(event: AgentEvent) -> None:
            if isinstance(event, CallEnded):
                made.append(event)
            put(event)

        def keep(entry: Entry) -> None:
            self.chats.append(chat.id, len(chat.entries), entry)
            chat.entries.append(entry)

        calling = Calling(
            door=self.door,
            principal=agent_principal(chat.id),
            chat=chat,
            offering=offering,
            emit=emit,
            keep=keep,
            limit=self.settings.max_result_chars,
            at_once=self.settings.max_parallel_calls,
            images=traits.images,
            watch=lambda tool: self.watch(tool, self.model, self.person, emit),
        )
        if chat.info.model != self.model.name:
            chat.info = replace(chat.info, model=self.model.name)
            self.chats.change(chat.info)
        return Turn(
            chat=chat,
            model=self.model,
            traits=traits,
            offering=offering,
            calling=calling,
            settings=self.settings,
            emit=emit,
            keep=keep,
            now=self.clock.now(),
            calls=made,
        )


def agent_principal(chat: str) -> Principal:
    """On whose behalf the calls of a chat are made."""
    return Principal(name="agent", session=chat)


def title_of(text: str) -> str:
    """What a chat is called that begins with this question."""
    words = " ".join(text.split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"

"""The agent's interface: questions in, events or an answer out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.agent.approval_prompt import ChatAsker, TurnGate
from toolcrib.agent.chat import STOPPED_BY_USER, Chat, Continued, Entry, Remark, Said
from toolcrib.agent.events import AgentEvent, TurnBegan, TurnEnded
from toolcrib.agent.ports import ChatStore, ToolCaller, ToolFinder, User
from toolcrib.agent.tool_offer import ToolForms
from toolcrib.agent.turn_context import TurnContext, Watch, agent_principal, past_calls
from toolcrib.approvals.known_addresses import values_in
from toolcrib.clock import Clock, SystemClock
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import ToolcribError, UsageError
from toolcrib.llm.model import Model, ModelTraits
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import FromUser, Image, Text

__all__ = ["Agent", "agent_principal", "title_of"]

BUSY = "This chat is busy with another question."
_TITLE = 60
Asked = Said | Continued
"""What a turn answers: a question, or the request to continue the previous answer."""


@dataclass(kw_only=True)
class Agent:
    """Answers questions with one model and the host's tools; created by `host.agent()`."""

    model: Model
    caller: ToolCaller
    finder: ToolFinder
    chats: ChatStore
    settings: AgentSettings
    forms: ToolForms = field(default_factory=ToolForms)
    clock: Clock = field(default_factory=SystemClock)
    user: User | None = None
    """Answers approval questions and servers' requests; without one, such requests are declined."""
    stop: Callable[[str], Coroutine[Any, Any, None]] | None = None
    """Called with the chat's id when a turn is stopped: ends what its tools left running."""
    gate: TurnGate | None = None
    """Notified when a turn begins and ends, so that it can ask this chat's user."""
    project: str = ""
    """The user's working folder."""
    mode: Mode | None = None
    """When the user is asked; None for the mode in the settings."""
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict, repr=False)
    _turns: dict[str, TurnContext] = field(default_factory=dict, repr=False)
    _ending: dict[str, asyncio.Task[None]] = field(default_factory=dict, repr=False)
    watch: Watch = lambda tool, model, user, emit, chat: nullcontext()

    async def ask(self, text: str, *, chat: Chat | None = None, images: Sequence[Image] = ()) -> TurnEnded:
        """The answer to a question; raises `ToolcribError` if there is none."""
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
        """Answer a question as a stream of events; the last one is `TurnEnded`.

        Closing the generator, or cancelling its reader, stops everything: the model's stream and the running
        tools. The chat can be continued afterwards.
        """
        asked: Asked | None = question(text, images)
        if chat is None:
            chat, asked = await self.open_chat(text, images), None
        async with aclosing(self.answer(chat, asked)) as events:
            async for event in events:
                yield event

    async def open_chat(self, text: str, images: Sequence[Image] = ()) -> Chat:
        """A new chat that ends with this question, for `answer`."""
        first = question(text, images)
        return await self.chats.create(self.model.name, title=title_of(text), entries=[first])

    async def answer(self, chat: Chat, asked: Asked | None = None) -> AsyncGenerator[AgentEvent, None]:
        """Answer the last question of a chat, after adding `asked` to it; same events as `run`."""
        with self._claiming(chat):
            if asked is not None:
                # Stored before anything is awaited: a process that is killed now loses no question.
                self._keep(chat, asked)
            turn = TurnContext(self, chat, await self._traits(chat))
            await self._recall(turn)
        async with aclosing(self._follow(turn, turn.turn(self.clock.now()).run())) as events:
            async for event in events:
                yield event

    async def call(
        self, chat: Chat, tool: str, arguments: Mapping[str, Any]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Call a tool by hand in a chat, with the same approvals and principal as its model's calls.

        Same events as `run`. The call is kept in the chat and not shown to models.
        """
        with self._claiming(chat):
            turn = TurnContext(self, chat, await self.model.traits())
            await self._recall(turn)
            if self.gate is not None:
                self.gate.given(turn.principal, values_in(arguments))
        async with aclosing(self._follow(turn, turn.by_hand(tool, arguments))) as events:
            async for event in events:
                yield event

    @contextmanager
    def _claiming(self, chat: Chat) -> Iterator[None]:
        """Reserve the chat until `_follow` ends; raises `UsageError` if it is busy."""
        if chat.id in self.chats.busy:
            raise UsageError(BUSY, hint="Wait until it ends, or stop it.")
        self.chats.busy.add(chat.id)
        try:
            yield
        except BaseException:
            self.chats.busy.discard(chat.id)
            raise

    async def _traits(self, chat: Chat) -> ModelTraits:
        """The model's traits; a failure is recorded in the chat."""
        try:
            return await self.model.traits()
        except asyncio.CancelledError:
            self._keep(chat, Remark(kind="stopped", text=STOPPED_BY_USER))
            raise
        except ToolcribError as error:
            self._keep(chat, Remark(kind="failed", text=error.message))
            raise

    async def _recall(self, turn: TurnContext) -> None:
        if self.gate is None:
            return
        try:
            await self.gate.recall(turn.principal, past_calls(turn.chat, self.finder))
        except asyncio.CancelledError:
            self._keep(turn.chat, Remark(kind="stopped", text=STOPPED_BY_USER))
            raise

    def _keep(self, chat: Chat, entry: Entry) -> None:
        self.chats.append(chat.id, len(chat.entries), entry)
        chat.entries.append(entry)

    async def _follow(
        self, turn: TurnContext, work: Coroutine[Any, Any, None]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the events of a turn; closing this stops the turn and waits for its end."""
        chat, principal = turn.chat, turn.principal
        self._begin(turn)
        task = self._running[chat.id] = asyncio.create_task(work, name=f"turn of {chat.id}")
        self._turns[chat.id] = turn
        task.add_done_callback(lambda _: turn.events.put_nowait(None))
        try:
            yield TurnBegan(chat=chat.id, model=self.model.name)
            while (event := await turn.events.get()) is not None:
                yield event
            if task.cancelled() and turn.stopped is not None:
                await self._end_left(chat.id)
                yield turn.stopped
            else:
                await task
        finally:
            try:
                if not task.done():
                    self.halt(chat.id)
                    await asyncio.wait([task])
                    await self._end_left(chat.id)
            finally:  # Also if the wait is cancelled.
                self._running.pop(chat.id, None)
                self._turns.pop(chat.id, None)
                self.chats.busy.discard(chat.id)
                if self.gate is not None:
                    self.gate.end_turn(principal)
                await asyncio.shield(self.chats.flush())

    def _begin(self, turn: TurnContext) -> None:
        info = replace(turn.chat.info, model=self.model.name, project=self.project or turn.chat.info.project)
        if info != turn.chat.info:
            turn.chat.info = info
            self.chats.change(info)
        if self.gate is not None:
            asker = None if self.user is None else ChatAsker(self.user, turn.emit)
            self.gate.begin(turn.principal, asker=asker, project=self.project, mode=self.mode)
            self.gate.given(turn.principal, turn.chat.from_user())

    def halt(self, chat: str) -> bool:
        """Stop the turn of a chat; its reader still gets the last events. False if nothing runs."""
        task = self._running.get(chat)
        if task is None:
            return False
        # Cancel the turn and end what its tools left running at the same time: both take a while.
        if not task.cancelling():
            task.cancel()
        if self.stop is not None and chat not in self._ending:
            self._ending[chat] = asyncio.create_task(self.stop(chat), name=f"ending of {chat}")
        return True

    async def stop_call(self, chat: str, call: str) -> bool:
        """Stop one call of a chat's turn, which continues; False if there is no such call."""
        turn = self._turns.get(chat)
        task = None if turn is None else turn.runner.stop(call)
        if task is None:
            return False
        await asyncio.wait([task])
        return True

    async def _end_left(self, chat: str) -> None:
        ending = self._ending.pop(chat, None)
        if ending is not None:
            await ending
        if self.stop is not None:
            await self.stop(chat)  # Anything started in between; mostly nothing.


def question(text: str, images: Sequence[Image] = ()) -> Said:
    """A user's question as an entry of a chat."""
    return Said(FromUser(parts=(Text(text), *images)))


def title_of(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"

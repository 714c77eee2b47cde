"""The agent as its callers see it: questions in, events or an answer out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.agent.approval_prompt import ChatAsker, TurnGate
from toolcrib.agent.chat import STOPPED_BY_USER, Chat, Continued, Entry, Remark, Said
from toolcrib.agent.context import Scene, agent_principal, past_calls
from toolcrib.agent.events import AgentEvent, TurnBegan, TurnEnded
from toolcrib.agent.ports import Chats, Door, Person, Room
from toolcrib.agent.tool_offer import Forms
from toolcrib.clock import Clock, SystemClock
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import ToolcribError, UsageError
from toolcrib.llm.model import Model, Traits
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import FromPerson, Image, Text

__all__ = ["Agent", "agent_principal", "title_of"]

BUSY = "This chat is busy with another question."
_TITLE = 60
Asked = Said | Continued
"""What a turn answers: a question, or the request to continue the answer before it."""
Watch = Callable[
    [str, Model, "Person | None", Callable[[AgentEvent], None], str], AbstractContextManager[None]
]
"""Entered around each call with the tool's name, the chat's model, who can be asked, and the chat."""


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
    stop: Callable[[str], Coroutine[Any, Any, None]] | None = None
    """Called with the chat's id when a turn is stopped: ends what its tools left running."""
    gate: TurnGate | None = None
    """Told when a turn begins and ends, so that it can ask this chat's person."""
    project: str = ""
    """The folder that the person works in."""
    mode: Mode | None = None
    """When the person is asked; None for what the settings say."""
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict, repr=False)
    _scenes: dict[str, Scene] = field(default_factory=dict, repr=False)
    _ending: dict[str, asyncio.Task[None]] = field(default_factory=dict, repr=False)
    watch: Watch = lambda tool, model, person, emit, chat: nullcontext()

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
        """Answer what a chat ends with, after adding `asked` to it; told and stopped as in `run`."""
        with self._claiming(chat):
            if asked is not None:
                # Kept before anything is waited for: a process that is killed now loses no question.
                self._keep(chat, asked)
            scene = Scene(self, chat, await self._traits(chat))
        async with aclosing(self._follow(scene, scene.turn(self.clock.now()).run())) as events:
            async for event in events:
                yield event

    async def call(
        self, chat: Chat, tool: str, arguments: Mapping[str, Any]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Call a tool by hand in a chat, under the same gate and for the same principal as its model's calls.

        Told and stopped as a question is. The call is kept in the chat, and no model is shown it.
        """
        with self._claiming(chat):
            scene = Scene(self, chat, await self.model.traits())
        async with aclosing(self._follow(scene, scene.by_hand(tool, arguments))) as events:
            async for event in events:
                yield event

    @contextmanager
    def _claiming(self, chat: Chat) -> Iterator[None]:
        """Nothing else runs in the chat until `_follow` ends; raises `UsageError` when something does."""
        if chat.id in self.chats.busy:
            raise UsageError(BUSY, hint="Wait for its end, or stop it first.")
        self.chats.busy.add(chat.id)
        try:
            yield
        except BaseException:
            self.chats.busy.discard(chat.id)
            raise

    async def _traits(self, chat: Chat) -> Traits:
        """What the model can do; the chat records when that cannot be found out."""
        try:
            return await self.model.traits()
        except asyncio.CancelledError:
            self._keep(chat, Remark(kind="stopped", text=STOPPED_BY_USER))
            raise
        except ToolcribError as error:
            self._keep(chat, Remark(kind="failed", text=error.message))
            raise

    def _keep(self, chat: Chat, entry: Entry) -> None:
        self.chats.append(chat.id, len(chat.entries), entry)
        chat.entries.append(entry)

    async def _follow(
        self, scene: Scene, work: Coroutine[Any, Any, None]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Tell what the work tells; who closes this ends the work, and waits until nothing of it is left."""
        chat, principal = scene.chat, scene.principal
        self._begin(scene)
        task = self._running[chat.id] = asyncio.create_task(work, name=f"turn of {chat.id}")
        self._scenes[chat.id] = scene
        task.add_done_callback(lambda _: scene.told.put_nowait(None))
        try:
            yield TurnBegan(chat=chat.id, model=self.model.name)
            while (event := await scene.told.get()) is not None:
                yield event
            if task.cancelled() and scene.stopped is not None:
                await self._end_left(chat.id)
                yield scene.stopped
            else:
                await task
        finally:
            try:
                if not task.done():
                    self.halt(chat.id)
                    await asyncio.wait([task])
                    await self._end_left(chat.id)
            finally:  # Also for one who has no patience to wait.
                self._running.pop(chat.id, None)
                self._scenes.pop(chat.id, None)
                self.chats.busy.discard(chat.id)
                if self.gate is not None:
                    self.gate.end_turn(principal)
                await asyncio.shield(self.chats.flush())

    def _begin(self, scene: Scene) -> None:
        info = replace(
            scene.chat.info, model=self.model.name, project=self.project or scene.chat.info.project
        )
        if info != scene.chat.info:
            scene.chat.info = info
            self.chats.change(info)
        if self.gate is not None:
            asker = None if self.person is None else ChatAsker(self.person, scene.emit)
            self.gate.begin(scene.principal, asker=asker, project=self.project, mode=self.mode)
            self.gate.recall(scene.principal, past_calls(scene.chat, self.room))

    def halt(self, chat: str) -> bool:
        """Stop what runs in a chat; who reads its events hears how it ends. False when nothing runs."""
        task = self._running.get(chat)
        if task is None:
            return False
        # The work is cancelled and what its tools left running is ended, both at once: each takes its time.
        if not task.cancelling():
            task.cancel()
        if self.stop is not None and chat not in self._ending:
            self._ending[chat] = asyncio.create_task(self.stop(chat), name=f"ending of {chat}")
        return True

    async def stop_call(self, chat: str, call: str) -> bool:
        """Stop one call of what runs in a chat, which goes on; False when there is no such call."""
        scene = self._scenes.get(chat)
        task = None if scene is None else scene.calling.stop(call)
        if task is None:
            return False
        await asyncio.wait([task])
        return True

    async def _end_left(self, chat: str) -> None:
        """Wait until nothing is left of what a chat started."""
        ending = self._ending.pop(chat, None)
        if ending is not None:
            await ending
        if self.stop is not None:
            await self.stop(chat)  # What came up in between; mostly nothing.


def question(text: str, images: Sequence[Image] = ()) -> Said:
    """What a user asks, as an entry of a chat."""
    return Said(FromPerson(parts=(Text(text), *images)))


def title_of(text: str) -> str:
    """What a chat is called that begins with this question."""
    words = " ".join(text.split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"

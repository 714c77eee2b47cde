"""The agent's interface: questions in, events or an answer out. Has the title of a new chat, the error for a
busy chat, continuing an answer, calls by hand, and how often a draft of the answer is saved.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from toolcrib.agent.approval_prompt import ChatAsker
from toolcrib.agent.builtin_tools import NAMES
from toolcrib.agent.chat import (
    STOPPED_BY_USER,
    ByHand,
    Chat,
    Continued,
    Entry,
    Partial,
    Remark,
    Said,
    TextFile,
    interrupted,
)
from toolcrib.agent.events import (
    AgentEvent,
    AskedAgain,
    CallEnded,
    Ending,
    Sampled,
    Speaking,
    Thinking,
    TurnBegan,
    TurnEnded,
)
from toolcrib.agent.ports import ChatStore, ToolCaller, ToolFinder, User
from toolcrib.agent.tool_calls import CallRunner
from toolcrib.agent.tool_offer import ToolForms, ToolOffer
from toolcrib.agent.turn import TurnLoop
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.known_addresses import values_in
from toolcrib.chats.result_text import plain
from toolcrib.chats.turn import BY_HAND
from toolcrib.clock import Clock, SystemClock
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import DatabaseError, ToolcribError, UsageError
from toolcrib.llm.model import Model, ModelTraits
from toolcrib.schema.approvals import Mode
from toolcrib.schema.messages import FromModel, FromUser, Image, Text, ToolAnswer, ToolUse, Usage
from toolcrib.schema.tools import Principal

if TYPE_CHECKING:
    from toolcrib.approvals.gate import ApprovalGate

__all__ = ["Agent", "agent_principal", "title_of"]

BUSY = "This chat is busy with another question."
_TITLE = 60
Asked = Said | Continued
"""What a turn answers: a question, or the request to continue the previous answer."""

Watch = Callable[[str, Model, User | None, Callable[[AgentEvent], None], str], AbstractContextManager[None]]
"""Entered around each call, with the tool, the chat's model, its user, where events go, and the chat's id."""


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
    gate: ApprovalGate | None = None
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
            self.gate.given(turn.principal, *turn.chat.from_user())

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


def question(
    text: str,
    images: Sequence[Image] = (),
    *,
    files: Sequence[TextFile] = (),
    replaces: int | None = None,
) -> Said:
    """A user's question as an entry of a chat."""
    return Said(FromUser(parts=(Text(text), *images)), replaces, tuple(files))


def title_of(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _TITLE else f"{words[: _TITLE - 1].rstrip()}…"


class TurnContext:
    def __init__(self, agent: Agent, chat: Chat, traits: ModelTraits) -> None:
        self.chat = chat
        self.principal = agent_principal(chat.id)
        self.events: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self.stopped: TurnEnded | None = None
        """The end of a stopped turn, emitted once nothing is running."""
        self._agent = agent
        self._traits = traits
        self._turn: TurnLoop | None = None
        self._calls: list[CallEnded] = []
        self._draft = AnswerDraft(self._write_draft)
        self._offer = ToolOffer(
            agent.finder,
            agent.forms,
            agent.model.form,
            agent.settings.offer_all,
            pinned=chat.info.pinned,
            banned=chat.info.banned,
        )
        self.runner = self._make_runner()

    def emit(self, event: AgentEvent) -> None:
        if isinstance(event, Speaking):
            self._draft.add(text=event.text)
        elif isinstance(event, Thinking):
            self._draft.add(thinking=event.text)
        elif isinstance(event, AskedAgain):
            self._draft.restart()
        elif isinstance(event, CallEnded):
            self._calls.append(event)
        if isinstance(event, Sampled) and self._turn is not None:
            self._turn.count(event.usage)
        if isinstance(event, TurnEnded) and event.ending == "stopped":
            self.stopped = event
        else:
            self.events.put_nowait(event)

    def keep(self, entry: Entry) -> None:
        """Add an entry to the chat, in memory and on disk.

        The model's message replaces its draft. If a round was stopped or failed, the draft itself is kept.
        """
        mark = self._draft.take_place()
        if isinstance(entry, Said) and isinstance(entry.message, FromModel):
            self._draft.close()
        elif isinstance(entry, Remark) and (partial := self._draft.end()) is not None:
            self._put(partial, mark)
            mark = ""
        self._put(entry, mark)

    def _put(self, entry: Entry, mark: str = "") -> None:
        position, chats = len(self.chat.entries), self._agent.chats
        if mark:
            chats.rewrite(self.chat.id, position, mark, entry)
        else:
            chats.append(self.chat.id, position, entry)
        self.chat.entries.append(entry)

    async def _recorded(self) -> None:
        """Wait until the chat is on disk; the store reports where it cannot be written."""
        with suppress(DatabaseError):
            await self._agent.chats.flush()

    def _write_draft(self, partial: Partial) -> None:
        self._agent.chats.rewrite(self.chat.id, len(self.chat.entries), partial.mark, partial)

    def turn(self, now: datetime) -> TurnLoop:
        self._turn = TurnLoop(
            chat=self.chat,
            model=self._agent.model,
            traits=self._traits,
            offer=self._offer,
            runner=self.runner,
            settings=self._agent.settings,
            emit=self.emit,
            keep=self.keep,
            now=now,
            calls=self._calls,
        )
        return self._turn

    async def by_hand(self, tool: str, arguments: Mapping[str, Any]) -> None:
        use = ToolUse(id=f"{BY_HAND}{secrets.token_hex(6)}", name=tool, arguments=dict(arguments))
        position = len(self.chat.entries)
        killed = replace(interrupted(use), outcome="interrupted")
        self.keep(ByHand(call=use, answer=killed))  # Stays if the process is killed.
        done: dict[str, ToolAnswer] = {}
        try:
            await self.runner.run([use], done)
        except asyncio.CancelledError:
            self._rewrite_by_hand(position, ByHand(call=use, answer=done.get(use.id, killed)))
            self._end("", "stopped")
            raise
        self._rewrite_by_hand(position, ByHand(call=use, answer=done[use.id]))
        self._end(plain(done[use.id].text), "answered")

    def _rewrite_by_hand(self, position: int, entry: ByHand) -> None:
        self._agent.chats.rewrite(self.chat.id, position, entry.call.id, entry)
        self.chat.entries[position] = entry

    def _end(self, answer: str, ending: Ending) -> None:
        self.emit(
            TurnEnded(
                chat=self.chat.id,
                model=self._agent.model.name,
                answer=answer,
                ending=ending,
                rounds=0,
                calls=tuple(self._calls),
                usage=Usage(),
                cost=None,
            )
        )

    def _make_runner(self) -> CallRunner:
        agent = self._agent
        return CallRunner(
            caller=agent.caller,
            principal=self.principal,
            chat=self.chat,
            offer=self._offer,
            emit=self.emit,
            keep=self.keep,
            recorded=self._recorded,
            limit=agent.settings.max_result_chars,
            at_once=agent.settings.max_parallel_calls,
            images=self._traits.images,
            watch=lambda tool: agent.watch(tool, agent.model, agent.user, self.emit, self.chat.id),
        )


def agent_principal(chat: str) -> Principal:
    return Principal(name="agent", session=chat)


def past_calls(chat: Chat, finder: ToolFinder) -> Iterator[PastCall]:
    """The chat's calls so far, for the gate."""
    known = {tool.name: tool for tool in finder.tools()}
    for use, answer in chat.ran():
        if use.name not in NAMES:
            text = None if answer.failed else answer.text
            yield PastCall(name=use.name, tool=known.get(use.name), arguments=use.arguments, answer=text)


PAUSE = 0.25
"""Seconds between two writes."""


class AnswerDraft:
    """Stores the answer being written a few times a second, so that a killed process loses little.

    A short answer is complete before the first write is due and never stored here.
    """

    def __init__(self, write: Callable[[Partial], None]) -> None:
        self._write = write
        self._timer: asyncio.TimerHandle | None = None
        self._begin()

    def _begin(self) -> None:
        self._mark = secrets.token_hex(6)
        self._written = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._before: Partial | None = None

    def add(self, *, text: str = "", thinking: str = "") -> None:
        self._text.append(text)
        self._thinking.append(thinking)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._due)

    def restart(self) -> None:
        """The model is asked again from the start; if that fails, the longer text is kept."""
        self._before = self._longest()
        self._text, self._thinking = [], []

    def take_place(self) -> str:
        """The mark of the stored draft, which the next entry replaces; empty if nothing is stored."""
        written, self._written = self._written, False
        return self._mark if written else ""

    def end(self) -> Partial | None:
        """The text of an answer that ended early, if any; then the next round begins."""
        found = self._longest()
        self.close()
        return found

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._begin()

    def _due(self) -> None:
        self._timer = None
        now = self._now()
        if not _is_empty(now):
            self._written = True
            self._write(now)

    def _longest(self) -> Partial | None:
        now = self._now()
        longest = max(
            (draft for draft in (now, self._before) if draft is not None), key=lambda draft: len(draft.text)
        )
        return None if _is_empty(longest) else longest

    def _now(self) -> Partial:
        return Partial(mark=self._mark, text="".join(self._text), thinking="".join(self._thinking))


def _is_empty(partial: Partial) -> bool:
    return not (partial.text.strip() or partial.thinking.strip())

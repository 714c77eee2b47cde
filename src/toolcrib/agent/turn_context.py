"""What one turn of a chat works with: its events, its entries, and its calls."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from toolcrib.agent.builtin_tools import NAMES
from toolcrib.agent.chat import ByHand, Chat, Entry, Partial, Remark, Said, interrupted
from toolcrib.agent.events import (
    AgentEvent,
    AskedAgain,
    CallEnded,
    Ending,
    Sampled,
    Speaking,
    Thinking,
    TurnEnded,
)
from toolcrib.agent.ports import ChatStore, ToolCaller, ToolFinder, User
from toolcrib.agent.tool_calls import CallRunner
from toolcrib.agent.tool_offer import ToolForms, ToolOffer
from toolcrib.agent.turn import TurnLoop
from toolcrib.approvals.facts import PastCall
from toolcrib.chats.result_text import plain
from toolcrib.chats.turn import BY_HAND
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import DatabaseError
from toolcrib.llm.model import Model, ModelTraits
from toolcrib.schema.messages import FromModel, ToolAnswer, ToolUse, Usage
from toolcrib.schema.tools import Principal

Watch = Callable[[str, Model, User | None, Callable[[AgentEvent], None], str], AbstractContextManager[None]]
"""Entered around each call, with the tool, the chat's model, its user, where events go, and the chat's id."""


class TurnPorts(Protocol):
    """The parts of an `Agent` that a turn uses."""

    model: Model
    caller: ToolCaller
    finder: ToolFinder
    chats: ChatStore
    settings: AgentSettings
    forms: ToolForms
    user: User | None

    @property
    def watch(self) -> Watch: ...


class TurnContext:
    def __init__(self, agent: TurnPorts, chat: Chat, traits: ModelTraits) -> None:
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

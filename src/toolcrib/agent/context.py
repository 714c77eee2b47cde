"""What one turn of a chat works with: where it tells and keeps what happens, and on whose behalf it calls."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from toolcrib.agent.chat import ByHand, Chat, Entry, Partial, Remark, Said, interrupted
from toolcrib.agent.draft import Draft
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
from toolcrib.agent.own_tools import NAMES
from toolcrib.agent.ports import Room
from toolcrib.agent.results import plain
from toolcrib.agent.tool_calls import Calling
from toolcrib.agent.tool_offer import Offering
from toolcrib.agent.turn import Turn
from toolcrib.approvals.facts import PastCall
from toolcrib.llm.model import Traits
from toolcrib.schema.messages import FromModel, ToolAnswer, ToolUse, Usage
from toolcrib.schema.tools import Principal

if TYPE_CHECKING:
    from toolcrib.agent.agent import Agent


class Scene:
    """Made for each turn."""

    def __init__(self, agent: Agent, chat: Chat, traits: Traits) -> None:
        self.chat = chat
        self.principal = agent_principal(chat.id)
        self.told: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self.stopped: TurnEnded | None = None
        """The end of a turn that was stopped; told once nothing is left running."""
        self._agent = agent
        self._traits = traits
        self._turn: Turn | None = None
        self._calls: list[CallEnded] = []
        self._draft = Draft(self._write_draft)
        self._offering = Offering(
            agent.room,
            agent.forms,
            agent.model.form,
            agent.settings.offer_all,
            pinned=chat.info.pinned,
            banned=chat.info.banned,
        )
        self.calling = self._calling()

    def emit(self, event: AgentEvent) -> None:
        """Tell whoever follows."""
        if isinstance(event, Speaking):
            self._draft.add(text=event.text)
        elif isinstance(event, Thinking):
            self._draft.add(thinking=event.text)
        elif isinstance(event, AskedAgain):
            self._draft.restart()
        elif isinstance(event, CallEnded):
            self._calls.append(event)
        if isinstance(event, Sampled) and self._turn is not None:
            self._turn.usage += event.usage
        if isinstance(event, TurnEnded) and event.ending == "stopped":
            self.stopped = event
        else:
            self.told.put_nowait(event)

    def keep(self, entry: Entry) -> None:
        """Keep it in the chat, at hand and on disk.

        The model's message replaces its draft. When a round was stopped or failed there is no message, and
        the draft itself is kept.
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

    def _write_draft(self, partial: Partial) -> None:
        self._agent.chats.rewrite(self.chat.id, len(self.chat.entries), partial.mark, partial)

    def turn(self, now: datetime) -> Turn:
        """A question on its way."""
        self._turn = Turn(
            chat=self.chat,
            model=self._agent.model,
            traits=self._traits,
            offering=self._offering,
            calling=self.calling,
            settings=self._agent.settings,
            emit=self.emit,
            keep=self.keep,
            now=now,
            calls=self._calls,
        )
        return self._turn

    async def by_hand(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """One call that the person makes."""
        use = ToolUse(id=f"hand-{secrets.token_hex(6)}", name=tool, arguments=dict(arguments))
        position = len(self.chat.entries)
        killed = replace(interrupted(use), outcome="interrupted")
        self.keep(ByHand(call=use, answer=killed))  # What is left of it if the process is killed.
        done: dict[str, ToolAnswer] = {}
        try:
            await self.calling.run([use], done)
        except asyncio.CancelledError:
            self._rewrite_by_hand(position, ByHand(call=use, answer=done[use.id]))
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

    def _calling(self) -> Calling:
        agent = self._agent
        return Calling(
            door=agent.door,
            principal=self.principal,
            chat=self.chat,
            offering=self._offering,
            emit=self.emit,
            keep=self.keep,
            limit=agent.settings.max_result_chars,
            at_once=agent.settings.max_parallel_calls,
            images=self._traits.images,
            watch=lambda tool: agent.watch(tool, agent.model, agent.person, self.emit, self.chat.id),
        )


def agent_principal(chat: str) -> Principal:
    """On whose behalf the calls of a chat are made."""
    return Principal(name="agent", session=chat)


def past_calls(chat: Chat, room: Room) -> Iterator[PastCall]:
    """What a chat did so far, for a gate that may not have been there."""
    known = {tool.name: tool for tool in room.tools()}
    for use in chat.ran():
        if use.name not in NAMES:
            yield PastCall(name=use.name, tool=known.get(use.name), arguments=use.arguments)

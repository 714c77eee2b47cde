"""What one turn of a chat works with: where it tells and keeps what happens, and on whose behalf it calls."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from toolcrib.agent.calling import Calling
from toolcrib.agent.chat import ByHand, Chat, Entry, interrupted
from toolcrib.agent.events import AgentEvent, CallEnded, Ending, Sampled, TurnEnded
from toolcrib.agent.offering import Offering
from toolcrib.agent.own_tools import NAMES
from toolcrib.agent.ports import Room
from toolcrib.agent.results import plain
from toolcrib.agent.turn import Turn
from toolcrib.approvals.facts import PastCall
from toolcrib.llm.model import Traits
from toolcrib.schema.messages import ToolUse, Usage
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
        if isinstance(event, CallEnded):
            self._calls.append(event)
        if isinstance(event, Sampled) and self._turn is not None:
            self._turn.usage += event.usage
        if isinstance(event, TurnEnded) and event.ending == "stopped":
            self.stopped = event
        else:
            self.told.put_nowait(event)

    def keep(self, entry: Entry) -> None:
        """Keep it in the chat, at hand and on disk."""
        self._agent.chats.append(self.chat.id, len(self.chat.entries), entry)
        self.chat.entries.append(entry)

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
        try:
            answer = await self.calling.one(use)
        except asyncio.CancelledError:
            self.keep(ByHand(call=use, answer=interrupted(use)))
            self._end("", "stopped")
            raise
        self.keep(ByHand(call=use, answer=answer))
        self._end(plain(answer.text), "answered")

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

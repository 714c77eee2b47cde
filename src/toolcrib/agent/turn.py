"""One question from end to end: ask the model, call what it wants, tell it what came of it, until it answers.

Each step is kept in the chat before the next one begins, so that a turn that is cancelled anywhere leaves a
chat that can go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from toolcrib.agent.calling import Calling
from toolcrib.agent.chat import STOPPED_BY_USER, Chat, Entry, Offer, Remark, Said, Took, interrupted
from toolcrib.agent.compaction import FULL, can_summarise, shortening, summarise, weight
from toolcrib.agent.events import (
    AgentEvent,
    AskedAgain,
    CallEnded,
    Compacted,
    Ending,
    RoundEnded,
    Speaking,
    Thinking,
    ToolsOffered,
    TurnEnded,
)
from toolcrib.agent.offering import Offering
from toolcrib.agent.prompt import instructions
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import AnswerCut, ContextTooLong, ModelError, ToolcribError
from toolcrib.llm.model import Finished, Model, Request, TextDelta, ThinkingDelta, Traits
from toolcrib.llm.prices import Price, cost
from toolcrib.schema.messages import FromModel, FromTools, Text, ToolAnswer, Usage

NO_ANSWER = "(The model gave no answer.)"


@dataclass(kw_only=True)
class Turn:
    """A question on its way."""

    chat: Chat
    model: Model
    traits: Traits
    offering: Offering
    calling: Calling
    settings: AgentSettings
    emit: Callable[[AgentEvent], None]
    keep: Callable[[Entry], None]
    now: datetime
    usage: Usage = field(default_factory=Usage)
    rounds: int = 0
    calls: list[CallEnded] = field(default_factory=list)
    _compacted: int = 0

    async def run(self) -> None:
        """Answer what the chat ends with; tells everything by events, and ends with `TurnEnded`."""
        questions = self.chat.questions()
        try:
            await self._offer(questions[-1] if questions else "")
            answer, ending = await self._rounds()
        except asyncio.CancelledError:
            self.keep(Remark(kind="stopped", text=STOPPED_BY_USER))
            self._end("", "stopped")
            raise
        except ToolcribError as error:
            self.keep(Remark(kind="failed", text=error.message))
            self._end("", "failed", error)
            return
        self._end(answer, ending)

    async def _offer(self, question: str) -> None:
        if not self.traits.tools:
            return
        found, note = await self.offering.begin(question, self.chat)
        self.keep(Offer(tools=tuple((one.tool.name, one.why) for one in found), note=note))
        told = tuple({"name": one.tool.name, "why": one.why} for one in found)
        self.emit(ToolsOffered(tools=told, note=note))

    async def _rounds(self) -> tuple[str, Ending]:
        limit = self.settings.max_rounds
        while True:
            last = self.rounds + 1 >= limit
            finished = await self._ask(last=last)
            message = finished.message
            if last and message.calls:
                message = FromModel(parts=tuple(part for part in message.parts if isinstance(part, Text)))
            self.keep(Said(message))
            if not message.calls:
                spent = last and limit > 1
                return message.text or NO_ANSWER, "budget" if spent else "answered"
            await self._call(message)

    async def _ask(self, *, last: bool) -> Finished:
        """One round; an answer that breaks off is asked for again, a talk that is too long made shorter."""
        await self._make_room()
        again = 1
        while True:
            try:
                return await self._stream(last=last)
            except AnswerCut as error:
                if not again:
                    raise
                again -= 1
                self.emit(AskedAgain(error.message))
            except ContextTooLong:
                if not await self._compact():
                    raise

    async def _stream(self, *, last: bool) -> Finished:
        offered = self.offering.written() if self.traits.tools and not last else ()
        request = Request(
            messages=self.chat.messages(),
            system=instructions(self.settings.instructions, self.now, last=last),
            tools=offered,
        )
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self.emit(Speaking(event.text))
                elif isinstance(event, ThinkingDelta):
                    self.emit(Thinking(event.text))
                elif isinstance(event, Finished):
                    return self._count(event)
        raise ModelError(f"{self.model.name} ended without a word.")

    def _count(self, finished: Finished) -> Finished:
        self.rounds += 1
        self.usage += finished.usage
        self.emit(RoundEnded(round=self.rounds, usage=finished.usage, text=finished.message.text))
        return finished

    async def _call(self, message: FromModel) -> None:
        done: dict[str, ToolAnswer] = {}
        try:
            await self.calling.run(message.calls, done)
        finally:
            answers = tuple(done.get(call.id) or interrupted(call) for call in message.calls)
            self.keep(Said(FromTools(answers=answers)))

    async def _make_room(self) -> None:
        held = int(self.traits.context_tokens * FULL)
        if weight(self.chat.messages()) + self.offering.tokens > held:
            await self._compact()

    async def _compact(self) -> bool:
        """Make the talk shorter; False when it is as short as it gets."""
        self._compacted += 1
        if self._compacted > self.settings.max_rounds:
            return False
        before = weight(self.chat.messages())
        step = shortening(self.chat)
        if step is not None:
            self.keep(step)
        held = int(self.traits.context_tokens * FULL)
        after = weight(self.chat.messages())
        if step is None or after + self.offering.tokens > held:
            if not can_summarise(self.chat):
                return step is not None and after < before
            summary, usage = await summarise(self.chat, self.model, self.traits.context_tokens)
            self.usage += usage
            self.keep(summary)
            after = weight(self.chat.messages())
        self.emit(Compacted(before=before, after=after))
        return after < before

    def _end(self, answer: str, ending: Ending, error: ToolcribError | None = None) -> None:
        took = self._took(ending)
        self.keep(took)
        self.emit(
            TurnEnded(
                chat=self.chat.id,
                model=self.model.name,
                answer=answer,
                ending=ending,
                rounds=self.rounds,
                calls=tuple(self.calls),
                usage=self.usage,
                cost=took.cost,
                failure=error,
            )
        )

    def _took(self, ending: Ending) -> Took:
        own = {name: Price(one.input, one.output, one.cached) for name, one in self.settings.prices.items()}
        spent = cost(self.model.name, self.usage, own)
        return Took(model=self.model.name, ending=ending, rounds=self.rounds, usage=self.usage, cost=spent)

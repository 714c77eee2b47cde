"""One question from end to end: ask the model, call what it wants, tell it what came of it, until it answers.

Each step is kept in the chat before the next one begins, so that a turn that is cancelled anywhere leaves a
chat that can go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime

from toolcrib.agent.call_ids import with_new_ids
from toolcrib.agent.chat import STOPPED_BY_USER, Chat, Entry, Offer, Remark, Said, Took, interrupted
from toolcrib.agent.compaction import (
    FULL,
    Measured,
    can_summarise,
    last_measured,
    shortening,
    size,
    summarise,
    weight,
)
from toolcrib.agent.events import (
    AgentEvent,
    AskedAgain,
    CallEnded,
    Compacted,
    Ending,
    Notice,
    RoundEnded,
    Speaking,
    Thinking,
    ToolsOffered,
    TurnEnded,
)
from toolcrib.agent.prompt import instructions
from toolcrib.agent.tool_calls import Calling
from toolcrib.agent.tool_offer import Offering
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import AnswerCut, ContextTooLong, ModelError, ToolcribError
from toolcrib.llm.acceptable import without_pictures
from toolcrib.llm.model import Finished, Model, Noticed, Request, TextDelta, ThinkingDelta, Traits
from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.llm.prices import Price, cost
from toolcrib.schema.messages import (
    FromModel,
    FromPerson,
    FromTools,
    Image,
    StopReason,
    Text,
    ToolAnswer,
    Usage,
)

NO_ANSWER = "(The model gave no answer.)"
NO_WORDS: Mapping[Ending, str] = {
    "cut": "(The answer was cut off by the output limit.)",
    "refused": "(The model refused to answer.)",
    "filtered": "(The vendor filtered the answer.)",
}
"""What stands for an answer without words."""
MOST_CUTS = 2
"""Rounds in a row with a cut call after which the model is asked again; one more ends the turn."""
_ENDINGS: Mapping[StopReason, Ending] = {"length": "cut", "refused": "refused", "filtered": "filtered"}


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
    _measured: Measured | None = None
    _no_note: bool = False
    """The model wrote no note of the past; it is not asked for one again."""

    async def run(self) -> None:
        """Answer what the chat ends with; tells everything by events, and ends with `TurnEnded`."""
        self._measured = last_measured(self.chat, self.model.name)
        question = self.chat.last_question()
        try:
            if question is not None:
                self._look_at_pictures(question)
            await self._offer("" if question is None else question.text)
            answer, ending = await self._rounds()
        except asyncio.CancelledError:
            self.keep(Remark(kind="stopped", text=STOPPED_BY_USER))
            self._end("", "stopped")
            raise
        except ToolcribError as error:
            self.keep(Remark(kind="failed", text=error.message))
            self._end("", "failed", error)
            return
        except Exception as error:  # A fault of ours or of a plugin: whoever runs the turn tells of it.
            self.keep(Remark(kind="failed", text=f"The turn broke: {type(error).__name__}: {error}"))
            raise
        self._end(answer, ending)

    def _look_at_pictures(self, question: FromPerson) -> None:
        """Tell the user of pictures that the model will not see."""
        pictures = [part for part in question.parts if isinstance(part, Image)]
        if pictures and not self.traits.images:
            self._notice(f"{self.model.name} cannot see pictures; it is told so in words.")
            return
        for picture in pictures:
            found = checked(picture.data, picture.mime)
            if isinstance(found, NoPicture):
                self._notice(f"A picture is left out: {found.why}.")

    async def _offer(self, question: str) -> None:
        if not self.traits.tools:
            return
        found, note = await self.offering.begin(question, self.chat)
        self.keep(Offer(tools=tuple((one.tool.name, one.why) for one in found), note=note))
        told = tuple({"name": one.tool.name, "why": one.why} for one in found)
        self.emit(ToolsOffered(tools=told, note=note))

    async def _rounds(self) -> tuple[str, Ending]:
        limit = self.settings.max_rounds
        cuts = 0
        while True:
            last = self.rounds + 1 >= limit
            finished = await self._ask(last=last)
            message = with_new_ids(finished.message, self.chat.entries)
            if last and message.calls:
                message = FromModel(parts=tuple(part for part in message.parts if isinstance(part, Text)))
            self.keep(Said(message))
            cuts = cuts + 1 if any(call.cut for call in message.calls) else 0
            if message.calls:
                await self._call(message)
                if cuts <= MOST_CUTS:
                    continue
            ending = _ENDINGS.get(finished.reason, "budget" if last and limit > 1 else "answered")
            return message.text or _no_words(ending, finished.detail), ending

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
        messages = self.chat.messages()
        request = Request(
            messages=messages if self.traits.images else without_pictures(messages),
            system=instructions(self.settings.instructions, self.now, last=last),
            tools=offered,
        )
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self.emit(Speaking(event.text))
                elif isinstance(event, ThinkingDelta):
                    self.emit(Thinking(event.text))
                elif isinstance(event, Noticed):
                    self._notice(event.text)
                elif isinstance(event, Finished):
                    return self._count(event)
        raise ModelError(f"{self.model.name} ended without a word.")

    def _count(self, finished: Finished) -> Finished:
        self.rounds += 1
        self.usage += finished.usage
        if finished.usage.input:
            held = finished.usage.input + finished.usage.output
            self._measured = Measured(len(self.chat.entries) + 1, held)
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
        if size(self.chat, self.offering.tokens, self._measured) > held:
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
            await self._summarise()
            after = weight(self.chat.messages())
        if after < before:
            self.emit(Compacted(before=before, after=after))
        return after < before

    async def _summarise(self) -> None:
        """Put a note of the model's in the place of the past; without a note, the past stays."""
        if self._no_note or not can_summarise(self.chat):
            return
        summary, usage = await summarise(self.chat, self.model, self.traits.context_tokens)
        self.usage += usage
        self._no_note = summary is None
        if summary is not None:
            self.keep(summary)

    def _notice(self, text: str) -> None:
        self.keep(Remark(kind="notice", text=text))
        self.emit(Notice(text))

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
        prices = self.settings.prices.items()
        own = {name: Price(one.input, one.output, one.cached, one.cache_write) for name, one in prices}
        return Took(
            model=self.model.name,
            ending=ending,
            rounds=self.rounds,
            usage=self.usage,
            cost=cost(self.model.name, self.usage, own),
            context=self._measured.tokens if self._measured is not None else 0,
        )


def _no_words(ending: Ending, detail: str) -> str:
    text = NO_WORDS.get(ending, NO_ANSWER)
    return f"{text} {detail}".strip() if ending in NO_WORDS else text

"""One turn: ask the model, run the tools it wants, pass their results back, until it answers. Has the texts
for a missing answer, the notices, and how often a model goes on after a cut-off call or a pause.

Each step is stored in the chat before the next one begins, so that a turn cancelled anywhere leaves a chat
that can be continued.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolcrib.agent.chat import (
    STOPPED_BY_USER,
    ByHand,
    Chat,
    Entry,
    OfferedTools,
    Remark,
    Said,
    Took,
    interrupted,
)
from toolcrib.agent.compaction import (
    FULL,
    MeasuredContext,
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
from toolcrib.agent.tool_calls import CallRunner
from toolcrib.agent.tool_offer import ToolOffer
from toolcrib.config.settings import AgentSettings
from toolcrib.errors import AnswerCut, ContextTooLong, ModelError, ToolcribError
from toolcrib.llm.history import without_pictures
from toolcrib.llm.model import (
    CompletionRequest,
    Finished,
    Model,
    ModelNotice,
    ModelTraits,
    TextDelta,
    ThinkingDelta,
)
from toolcrib.llm.pictures import NoPicture, checked
from toolcrib.llm.prices import cost, own_cost
from toolcrib.schema.messages import (
    FromModel,
    FromTools,
    FromUser,
    Image,
    Opaque,
    StopReason,
    Text,
    ToolAnswer,
    ToolUse,
    Usage,
)

NO_ANSWER = "(The model gave no answer.)"
NO_WORDS: Mapping[Ending, str] = {
    "cut": "(The answer was cut off by the output limit.)",
    "refused": "(The model refused to answer.)",
    "filtered": "(The vendor filtered the answer.)",
    "unknown": "(The model stopped without an answer.)",
}
"""Texts for answers without words."""
MOST_CUTS = 2
"""Consecutive rounds with a cut call before the turn ends."""
MOST_PAUSES = 5
"""Consecutive times that a model that paused is asked to go on."""
_ENDINGS: Mapping[StopReason, Ending] = {
    "length": "cut",
    "refused": "refused",
    "filtered": "filtered",
    "paused": "unknown",
    "unknown": "unknown",
}


@dataclass(kw_only=True)
class TurnLoop:
    chat: Chat
    model: Model
    traits: ModelTraits
    offer: ToolOffer
    runner: CallRunner
    settings: AgentSettings
    emit: Callable[[AgentEvent], None]
    keep: Callable[[Entry], None]
    now: datetime
    usage: Usage = field(default_factory=Usage)
    rounds: int = 0
    calls: list[CallEnded] = field(default_factory=list)
    _costs: list[float | None] = field(default_factory=list)
    """Of each request; prices may depend on its length."""
    _compacted: int = 0
    _measured: MeasuredContext | None = None
    _no_note: bool = False
    """The model wrote no summary; it is not asked again."""

    async def run(self) -> None:
        """Answer the last question of the chat; the last event is `TurnEnded`."""
        self._measured = last_measured(self.chat, self.model.name)
        question = self.chat.last_question()
        try:
            self._say_what_is_assumed()
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
        except Exception as error:  # A bug of ours or of a plugin: raised and reported by the caller.
            self.keep(Remark(kind="failed", text=f"The turn failed: {type(error).__name__}: {error}"))
            raise
        self._end(answer, ending)

    def _say_what_is_assumed(self) -> None:
        """Notify the user, once in a chat, that the model's context is not known."""
        size = f"{self.traits.context_tokens:,}"
        told = f"The context length of {self.model.name} is not known; {size} tokens are assumed."
        notice = Remark(kind="notice", text=f"{told} agent.contextTokens in the settings changes it.")
        if self.traits.assumed and notice not in self.chat.entries:
            self._notice(notice.text)

    def _look_at_pictures(self, question: FromUser) -> None:
        """Notify the user of pictures that the model will not see."""
        pictures = [part for part in question.parts if isinstance(part, Image)]
        if pictures and not self.traits.images:
            self._notice(f"{self.model.name} cannot see pictures; it gets a note instead.")
            return
        for picture in pictures:
            found = checked(picture.data, picture.mime)
            if isinstance(found, NoPicture):
                self._notice(f"A picture is left out: {found.why}.")

    async def _offer(self, question: str) -> None:
        if not self.traits.tools:
            return
        found, note = await self.offer.begin(question, self.chat)
        self.keep(OfferedTools(tools=tuple((hit.tool.name, hit.why) for hit in found), note=note))
        told = tuple({"name": hit.tool.name, "why": hit.why} for hit in found)
        self.emit(ToolsOffered(tools=told, note=note))

    async def _rounds(self) -> tuple[str, Ending]:
        limit = self.settings.max_rounds
        cuts, paused = 0, ""
        pauses = 0
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
            pauses = pauses + 1 if finished.reason == "paused" else 0
            if 0 < pauses <= MOST_PAUSES and not last:
                paused += message.text
                continue
            ending = _ENDINGS.get(finished.reason, "budget" if last and limit > 1 else "answered")
            if ending == "unknown":
                self._notice(f"The model stopped: {finished.detail or finished.reason}.")
            return (paused + message.text) or _no_words(ending, finished.detail), ending

    async def _ask(self, *, last: bool) -> Finished:
        """One round; repeated if the answer ends early, and after compaction if the chat is too long."""
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
        offered = self.offer.written() if self.traits.tools and not last else ()
        messages = self.chat.messages()
        request = CompletionRequest(
            messages=messages if self.traits.images else without_pictures(messages),
            system=instructions(self.settings.instructions, self.now, last=last),
            tools=offered,
            effort=self.settings.effort,
            conversation=self.chat.id,
        )
        async with aclosing(self.model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self.emit(Speaking(event.text))
                elif isinstance(event, ThinkingDelta):
                    self.emit(Thinking(event.text))
                elif isinstance(event, ModelNotice):
                    self._notice(event.text)
                elif isinstance(event, Finished):
                    return self._count(event)
        raise ModelError(f"{self.model.name} ended without an answer.")

    def _count(self, finished: Finished) -> Finished:
        self.rounds += 1
        self.count(finished.usage)
        if finished.usage.input:
            held = finished.usage.input + finished.usage.output
            self._measured = MeasuredContext(len(self.chat.entries) + 1, held)
        self.emit(RoundEnded(round=self.rounds, usage=finished.usage, text=finished.message.text))
        return finished

    async def _call(self, message: FromModel) -> None:
        done: dict[str, ToolAnswer] = {}
        try:
            await self.runner.run(message.calls, done)
        finally:
            answers = tuple(done.get(call.id) or interrupted(call) for call in message.calls)
            self.keep(Said(FromTools(answers=answers)))

    async def _make_room(self) -> None:
        held = int(self.traits.context_tokens * FULL)
        if size(self.chat, self.offer.tokens, self._measured) > held:
            await self._compact()

    async def _compact(self) -> bool:
        """Compact the chat; False if it cannot become shorter."""
        self._compacted += 1
        if self._compacted > self.settings.max_rounds:
            return False
        before = weight(self.chat.messages())
        step = shortening(self.chat)
        if step is not None:
            self.keep(step)
        held = int(self.traits.context_tokens * FULL)
        after = weight(self.chat.messages())
        if step is None or after + self.offer.tokens > held:
            await self._summarise()
            after = weight(self.chat.messages())
        if after < before:
            self.emit(Compacted(before=before, after=after))
        return after < before

    async def _summarise(self) -> None:
        if self._no_note or not can_summarise(self.chat):
            return
        summary, usage = await summarise(self.chat, self.model, self.traits.context_tokens)
        if usage.requests:
            self.count(usage)
        self._no_note = summary is None
        if summary is not None:
            self.keep(summary)

    def count(self, usage: Usage) -> None:
        """Add the usage and the cost of a request."""
        own = self.settings.prices
        self.usage += usage
        self._costs.append((cost if self.traits.list_price else own_cost)(self.model.name, usage, own))

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
        known = [cost for cost in self._costs if cost is not None]
        return Took(
            model=self.model.name,
            ending=ending,
            rounds=self.rounds,
            usage=self.usage,
            cost=round(sum(known, 0.0), 6) if len(known) == len(self._costs) else None,
            context=self._measured.tokens if self._measured is not None else 0,
        )


def _no_words(ending: Ending, detail: str) -> str:
    text = NO_WORDS.get(ending, NO_ANSWER)
    return f"{text} {detail}".strip() if ending in NO_WORDS else text


def with_new_ids(message: FromModel, entries: Iterable[Entry]) -> FromModel:
    """The message; calls whose ids were used before get new ones (some vendors start at the same id every
    round)."""
    if not message.calls:
        return message
    used = set(_ids(entries))
    return FromModel(parts=tuple(_renamed(part) if _clashes(part, used) else part for part in message.parts))


def _ids(entries: Iterable[Entry]) -> Iterable[str]:
    for entry in entries:
        if isinstance(entry, ByHand):
            yield entry.call.id
        elif isinstance(entry, Said) and isinstance(entry.message, FromModel):
            yield from (call.id for call in entry.message.calls)


def _clashes(part: Text | ToolUse | Opaque, used: set[str]) -> bool:
    return isinstance(part, ToolUse) and part.id in used


def _renamed(part: Text | ToolUse | Opaque) -> Text | ToolUse | Opaque:
    return replace(part, id=f"call_{secrets.token_hex(6)}") if isinstance(part, ToolUse) else part

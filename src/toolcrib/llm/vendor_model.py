"""A model that is asked over HTTP: opens the request, reads the stream, and sees whether it came to its end.

What a vendor's protocol looks like is for `providers/` to say; how an answer is read to its end, and what it
means when it is not, stands here once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol

from toolcrib.errors import AnswerCut, ModelBusy, ModelError, ModelUnreachable
from toolcrib.llm.acceptable import Limits, acceptable, fingerprint, has_pictures, pictures_in
from toolcrib.llm.context import ModelContext
from toolcrib.llm.http import Outgoing, Sender
from toolcrib.llm.model import CallMade, ModelEvent, Noticed, Request, Traits
from toolcrib.llm.refusals import PicturesRefused
from toolcrib.llm.retry import Patience
from toolcrib.llm.stream_reader import Gathering
from toolcrib.schema.messages import Message


class Reading(Protocol):
    """Reads one answer, piece by piece."""

    @property
    def gathering(self) -> Gathering:
        """What came so far; its `ended` is set when the answer is complete, `over` when nothing follows."""

    def take(self, piece: dict[str, Any]) -> Iterable[ModelEvent]:
        """A piece of the stream, or the whole answer of a server that does not stream."""

    def rest(self) -> None:
        """The stream is over: gather what is known only now."""


class Speech(Protocol):
    """One model in its vendor's protocol."""

    @property
    def name(self) -> str:
        """`vendor:model`."""

    @property
    def form(self) -> str:
        """In which form it wants tools."""

    @property
    def limits(self) -> Limits:
        """What the vendor accepts as names and ids of calls."""

    async def traits(self) -> Traits:
        """What the model can do."""

    async def outgoing(self, request: Request) -> Outgoing:
        """The request as the vendor wants it."""

    def reading(self) -> Reading:
        """For one answer."""


class VendorModel:
    """A `Model` that speaks one of the protocols."""

    def __init__(self, protocol: Speech, context: ModelContext) -> None:
        self.name = protocol.name
        self.form = protocol.form
        self._protocol = protocol
        self._context = context
        self._sender = Sender()
        self._blind = False
        """The vendor said that the model takes no pictures."""
        self._refused: frozenset[str] = frozenset()
        """Pictures that the vendor did not take."""

    async def traits(self) -> Traits:
        """What the model can do, as far as its vendor says it."""
        traits = await self._protocol.traits()
        return replace(traits, images=False) if self._blind else traits

    async def close(self) -> None:
        """Let go of the connections."""
        await self._sender.close()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Ask; as long as nothing of the answer was shown, what goes wrong on the way is tried again."""
        patience = Patience(self._context)
        shown = False
        while True:
            messages = await self._acceptable(request)
            try:
                async with aclosing(self._attempt(replace(request, messages=messages))) as events:
                    async for event in events:
                        shown = True
                        yield event
                return
            except PicturesRefused as error:
                if shown or not has_pictures(messages):
                    raise ModelError(error.message) from error
                self._remember(error, messages)
                yield Noticed(f"{error.message} The question was sent without its pictures.")
            except (ModelBusy, ModelUnreachable, AnswerCut) as error:
                if shown:
                    raise _broke_off(error) from error
                await patience.wait(error)

    async def _acceptable(self, request: Request) -> list[Message]:
        images = (await self.traits()).images
        return acceptable(request.messages, self._protocol.limits, images=images, refused=self._refused)

    async def _attempt(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        outgoing = await self._protocol.outgoing(request)
        reading = self._protocol.reading()
        gathering = reading.gathering
        async with self._sender.send(outgoing) as answer:
            try:
                async for piece in answer.pieces():
                    for event in reading.take(piece):
                        yield event
                    answer.ended = gathering.over
            except AnswerCut:
                if not gathering.ended:  # Else only the count of tokens is missing.
                    raise
            reading.rest()
            if gathering.broke_off:
                raise AnswerCut(f"The answer of {outgoing.vendor.title} broke off.", hint="Ask again.")
            finished = gathering.finish()
            for call in finished.message.calls:
                if not call.cut:
                    yield CallMade(call)
            yield finished

    def _remember(self, error: PicturesRefused, messages: Sequence[Message]) -> None:
        self._blind = self._blind or error.blind
        self._refused |= {fingerprint(image) for image in pictures_in(messages)}


def _broke_off(error: ModelError) -> ModelError:
    """What happened to an answer of which a part was shown already."""
    return error if isinstance(error, AnswerCut) else AnswerCut(error.message, hint=error.hint)

"""A model that is asked over HTTP: opens the request, reads the stream, and sees whether it came to its end.

What a vendor's protocol looks like is for `providers/` to say; how an answer is read to its end, and what it
means when it is not, stands here once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Any, Protocol

from toolcrib.errors import AnswerCut
from toolcrib.llm.context import ModelContext
from toolcrib.llm.gathering import Gathering
from toolcrib.llm.model import ModelEvent, Request, Traits
from toolcrib.llm.sending import Outgoing, Sender


class Reading(Protocol):
    """Reads one answer, piece by piece."""

    @property
    def gathering(self) -> Gathering:
        """What came so far; its `ended` is set when the answer is complete, `over` when nothing follows."""

    def take(self, piece: dict[str, Any]) -> Iterable[ModelEvent]:
        """A piece of the stream, or the whole answer of a server that does not stream."""

    def rest(self) -> Iterable[ModelEvent]:
        """What can be told only at the end."""


class Speech(Protocol):
    """One model in its vendor's protocol."""

    @property
    def name(self) -> str:
        """`vendor:model`."""

    @property
    def form(self) -> str:
        """In which form it wants tools."""

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
        self.traits = protocol.traits
        self._protocol = protocol
        self._sender = Sender(context)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._sender.close()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Ask."""
        outgoing = await self._protocol.outgoing(request)
        reading = self._protocol.reading()
        gathering = reading.gathering
        async with self._sender.send(outgoing) as answer:
            async for piece in answer.pieces():
                for event in reading.take(piece):
                    yield event
                answer.ended = gathering.over
            if not gathering.ended:
                raise AnswerCut(f"The answer of {outgoing.vendor.title} broke off.", hint="Ask again.")
            for event in reading.rest():
                yield event
            yield gathering.finish()

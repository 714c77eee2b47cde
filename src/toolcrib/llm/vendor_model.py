"""A model over HTTP: sends the request, reads the stream, retries (pauses between them, longest wait after
429), and checks that the answer is complete.

The vendors' protocols are in `providers/`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from toolcrib.errors import AnswerCut, ModelBusy, ModelError, ModelUnreachable
from toolcrib.llm.context import ModelContext
from toolcrib.llm.history import Limits, acceptable, fingerprint, has_pictures, pictures_in
from toolcrib.llm.http import Sender, VendorRequest
from toolcrib.llm.model import CallMade, CompletionRequest, ModelEvent, ModelNotice, ModelTraits
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.llm.vendor_errors import PicturesRefused, SummariesRefused
from toolcrib.schema.messages import Message

LONGEST_WAIT = 60.0
"""A vendor that asks for a longer wait is not retried."""
_FIRST_WAIT = 1.0
OnWait = Callable[[ModelError, float], None]
"""Called with the vendor's error and the seconds until the retry."""

_listener: ContextVar[OnWait | None] = ContextVar("toolcrib-vendor-wait", default=None)


@contextmanager
def hearing_of_waits(listener: OnWait) -> Iterator[None]:
    """Report waits of everything started in this block to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell_of_wait(error: ModelError, seconds: float) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(error, seconds)


class RetryWaits:
    """The retries of one request."""

    def __init__(self, context: ModelContext) -> None:
        self._clock = context.clock
        self._left = context.retries
        self._wait = _FIRST_WAIT

    async def wait(self, error: ModelError) -> None:
        """Wait before the next attempt; raises the error if there is none."""
        asked = getattr(error, "wait", None)
        pause = self._wait if asked is None else asked
        if not self._left or pause > LONGEST_WAIT:
            raise error
        self._left -= 1
        self._wait *= 4
        tell_of_wait(error, pause)
        await self._clock.sleep(pause)


class AnswerReader(Protocol):
    """Reads one answer, piece by piece."""

    @property
    def builder(self) -> AnswerBuilder:
        """The answer so far."""

    def take(self, piece: dict[str, Any]) -> Iterable[ModelEvent]:
        """A piece of the stream, or the whole answer if the server does not stream."""

    def rest(self) -> None:
        """The stream has ended: add what is only known now."""


class VendorProtocol(Protocol):
    """One model in its vendor's protocol."""

    @property
    def name(self) -> str:
        """`vendor:model`."""

    @property
    def form(self) -> str:
        """The format of its tools."""

    @property
    def limits(self) -> Limits:
        """Accepted names and ids of calls."""

    async def traits(self) -> ModelTraits: ...

    async def vendor_request(self, request: CompletionRequest) -> VendorRequest: ...

    def reader(self) -> AnswerReader:
        """A reader for one answer."""


class VendorModel:
    """A `Model` on top of a vendor's protocol."""

    def __init__(self, protocol: VendorProtocol, context: ModelContext) -> None:
        self.name = protocol.name
        self.form = protocol.form
        self._protocol = protocol
        self._context = context
        self._sender = Sender()
        self._blind = False
        """The vendor rejected pictures for this model."""
        self._summaries = True
        """False once the vendor rejected summaries of the reasoning."""
        self._refused: frozenset[str] = frozenset()
        """Pictures that the vendor rejected."""

    async def traits(self) -> ModelTraits:
        traits = await self._protocol.traits()
        return replace(traits, images=False) if self._blind else traits

    async def close(self) -> None:
        await self._sender.close()

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream an answer; errors are retried as long as nothing was shown."""
        patience = RetryWaits(self._context)
        request = replace(request, summaries=request.summaries and self._summaries)
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
                yield ModelNotice(f"{error.message} The question was sent without pictures.")
            except SummariesRefused as error:
                if shown or not request.summaries:
                    raise
                self._summaries, request = False, replace(request, summaries=False)
                yield ModelNotice(f"{error.message} Its reasoning is not shown.")
            except (ModelBusy, ModelUnreachable, AnswerCut) as error:
                if shown:
                    raise _broke_off(error) from error
                await patience.wait(error)

    async def _acceptable(self, request: CompletionRequest) -> list[Message]:
        images = (await self.traits()).images
        return acceptable(request.messages, self._protocol.limits, images=images, refused=self._refused)

    async def _attempt(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        vendor_request = await self._protocol.vendor_request(request)
        reader = self._protocol.reader()
        builder = reader.builder
        builder.origin = vendor_request.origin
        async with self._sender.send(vendor_request) as answer:
            try:
                async for piece in answer.pieces():
                    for event in reader.take(piece):
                        yield event
                    answer.ended = builder.over
            except AnswerCut:
                if not builder.ended:  # Otherwise only the usage is missing.
                    raise
            reader.rest()
            if builder.broke_off:
                raise AnswerCut(f"{vendor_request.vendor.title}'s answer was cut off.", hint="Ask again.")
            finished = builder.finish()
            for call in finished.message.calls:
                if not call.cut:
                    yield CallMade(call)
            yield finished

    def _remember(self, error: PicturesRefused, messages: Sequence[Message]) -> None:
        self._blind = self._blind or error.blind
        self._refused |= {fingerprint(image) for image in pictures_in(messages)}


def _broke_off(error: ModelError) -> ModelError:
    """The error for an answer that was partly shown."""
    return error if isinstance(error, AnswerCut) else AnswerCut(error.message, hint=error.hint)

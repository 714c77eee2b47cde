"""One POST: the client's message in, one JSON object out, or a stream when there is more to say.

Nothing is said before most answers, and those go out as plain JSON, from the task that made them. The first
notification, or the first question of a server, turns the answer into an event stream; so does an answer that
takes long, where the client can ask for the rest of a stream that was cut.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from toolcrib.errors import PeerError
from toolcrib.gateway.http.replay import KeptStream
from toolcrib.gateway.http.request import JSON, Header, HttpRequest
from toolcrib.gateway.questions import Questions
from toolcrib.gateway.wire import encode
from toolcrib.serverkit.protocol import METHOD_NOT_FOUND, Message

logger = logging.getLogger(__name__)

KEEP_ALIVE = 15.0
STREAM_AFTER = 2.0
"""Seconds after which an answer that can be resumed becomes a stream: what takes long may be cut."""
MAX_UNSENT = 1000
"""Notifications that wait for a client that does not read; the oldest are dropped beyond that."""
_STATUS: dict[Any, int] = {-32022: 400, -32020: 400, -32700: 400, -32600: 400}
_MODERN_STATUS: dict[Any, int] = {**_STATUS, -32021: 400, -32602: 400, -32601: 404}

STREAM_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
SILENCE = b":\n\n"
"""A comment, which keeps a stream alive."""


class Exchange:
    """The wire of one request over HTTP; the answers to `questions` come with requests of their own. Its task
    is among `tasks` until it ends.

    A modern client can be asked nothing, and to hang up is to cancel. A legacy client that hangs up may come
    back, and where `keep` is given it finds the rest of its stream. `headers` go with the answer.
    """

    _unsent: deque[Message] | None = None
    """What is to be said on the stream; None while there is none."""
    _pouring: asyncio.Task[None] | None = None
    _answer: Message | None = None
    _over = False
    _broken_off = False
    _pause: asyncio.Future[bool] | None = None

    def __init__(
        self,
        request: HttpRequest,
        tasks: set[asyncio.Task[None]],
        questions: Questions | None = None,
        keep: Callable[[], KeptStream] | None = None,
        *,
        headers: tuple[Header, ...] = (),
    ) -> None:
        self._request = request
        self._tasks = tasks
        self._questions = questions
        self._modern = questions is None
        self._keep = keep
        self._headers = headers

    def tell(self, message: Message) -> None:
        """Queue a notification for the stream."""
        if not self._over:
            self.stream().append(message)
            self._wake()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Ask the client on this request's stream; its answer comes as a POST of its own."""
        if self._questions is None:
            raise PeerError("This client cannot be asked while it waits.", code=METHOD_NOT_FOUND)
        return await self._questions.ask(self.tell, method, params)

    def break_off(self) -> None:
        """Close the stream before the answer, if it is kept: the client comes back for the rest."""
        if self._keep is not None and not self._over:
            self._broken_off = True
            self.stream()
            self._wake()

    def stream(self) -> deque[Message]:
        """Answer with a stream from now on; what is put in here is said on it."""
        if self._unsent is None:
            self._unsent = deque(maxlen=MAX_UNSENT)
            self._pouring = asyncio.create_task(self._pour(self._unsent))
        return self._unsent

    async def run(self, answering: Coroutine[Any, Any, Message | None]) -> None:
        """Send what is said and then the answer, in the request's task."""
        request = self._request
        try:
            if self._modern and request.gone:
                answering.close()
                return
            request.on_gone = request.cancel if self._modern else self._wake
            if self._keep is not None:
                request.remind(STREAM_AFTER, self.stream)
            self._answer = answer = await answering
            self._over = True
            if self._pouring is None and answer is not None:
                status = 200 if "result" in answer else status_of(answer, modern=self._modern)
                request.answer(status, encode(answer), JSON, self._headers)
            elif self._pouring is None:
                request.answer(202, headers=self._headers)
            else:
                self._wake()
                await self._pouring
        except asyncio.CancelledError:
            if self._pouring is not None:
                self._pouring.cancel()
            raise
        except Exception:
            logger.exception("a request could not be answered")
            request.fail()
        finally:
            request.ended(self._tasks)

    async def _pour(self, unsent: deque[Message]) -> None:
        request = self._request
        kept = self._keep() if self._keep is not None else None
        say = event if kept is None else kept.add
        request.open_stream((*STREAM_HEADERS, *self._headers))
        if kept is not None:
            await request.send(kept.opening())
        while not request.gone and not (self._broken_off and kept is not None):
            if unsent:
                await request.send(say(unsent.popleft()))
            elif self._over:
                if self._answer is not None:
                    await request.send(say(self._answer))
                if kept is not None:
                    kept.finish()
                break
            elif not await self._woken(KEEP_ALIVE):
                await request.send(SILENCE)
        request.end_stream()
        if kept is not None and not kept.done:
            await self._keep_rest(kept, unsent)

    async def _keep_rest(self, kept: KeptStream, unsent: deque[Message]) -> None:
        """What is said from now on waits for the client to come back."""
        while unsent or not self._over:
            while unsent:
                kept.add(unsent.popleft())
            if not self._over:
                await self._woken()
        if self._answer is not None:
            kept.add(self._answer)
        kept.finish()

    async def _woken(self, within: float | None = None) -> bool:
        """Wait until there is something to do; False when there was nothing for so many seconds."""
        loop = asyncio.get_running_loop()
        self._pause = loop.create_future()
        timer = None if within is None else loop.call_later(within, self._end_pause, False)
        try:
            return await self._pause
        finally:
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        self._end_pause(True)

    def _end_pause(self, woken: bool) -> None:
        if self._pause is not None and not self._pause.done():
            self._pause.set_result(woken)


def event(message: Message) -> bytes:
    """A message as one event of a stream."""
    return b"event: message\ndata: " + encode(message) + b"\n\n"


def status_of(answer: Message, *, modern: bool) -> int:
    """The HTTP status of an answer; errors of the modern era have their own."""
    error = answer.get("error")
    return 200 if error is None else (_MODERN_STATUS if modern else _STATUS).get(error.get("code"), 200)

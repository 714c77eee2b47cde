"""The response to one request: a JSON object for a POST, or an event stream.

Most responses are plain JSON, sent by the task that made them. The first notification, or the first request
of a server to the client, turns the response into an event stream; so does a response that takes long, if the
client can resume a stream. A GET opens the stream of changes, or resumes one that was cut.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from toolcrib.errors import PeerError
from toolcrib.gateway.http.request import JSON, PIECE, Header, HttpRequest
from toolcrib.gateway.http.sessions import MAX_QUEUED, HttpSession, Queue, ResumableStream
from toolcrib.gateway.wire import PendingRequests, encode_any
from toolcrib.serverkit.protocol import METHOD_NOT_FOUND, Message

logger = logging.getLogger(__name__)

KEEP_ALIVE = 15.0
STREAM_AFTER = 2.0
"""Seconds after which a resumable response becomes a stream, because a long one may be cut."""
MAX_UNSENT = 1000
"""Notifications for a client that does not read; beyond that the oldest are dropped."""
_STATUS: dict[Any, int] = {-32022: 400, -32020: 400, -32600: 400}
"""Not of an answer that could not be parsed: a server gave it, and the client's request was right."""
_MODERN_STATUS: dict[Any, int] = {**_STATUS, -32021: 400, -32602: 400, -32601: 404}

STREAM_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
COMMENT = b":\n\n"
"""Keeps a stream alive."""


class Exchange:
    """The wire of one request over HTTP. Its task is in `tasks` until it ends.

    A modern client cannot be sent requests, and cancels by disconnecting. A legacy client gets `requests` of
    servers, and may come back for the rest of its stream if `open_stream` is given. `headers` go with the
    response.
    """

    _unsent: deque[Message] | None = None
    """Messages for the stream; None while there is none."""
    _sending: asyncio.Task[None] | None = None
    _answer: Message | None = None
    _done = False
    _interrupted = False
    _wakeup: asyncio.Future[bool] | None = None

    def __init__(
        self,
        request: HttpRequest,
        tasks: set[asyncio.Task[None]],
        requests: PendingRequests | None = None,
        open_stream: Callable[[], ResumableStream] | None = None,
        *,
        headers: tuple[Header, ...] = (),
    ) -> None:
        self._request = request
        self._tasks = tasks
        self._requests = requests
        self._modern = requests is None
        self._open_stream = open_stream
        self._headers = headers

    def notify(self, message: Message) -> None:
        """Queue a notification for the stream."""
        if not self._done:
            self.stream().append(message)
            self._wake()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send the client a request on this stream; its response comes as a POST of its own."""
        if self._requests is None:
            raise PeerError(
                "This client accepts no requests while it waits for a response.", code=METHOD_NOT_FOUND
            )
        return await self._requests.send(self.notify, method, params)

    def interrupt(self) -> None:
        """Close the stream before the response, if it is resumable: the client comes back for the rest."""
        if self._open_stream is not None and not self._done:
            self._interrupted = True
            self.stream()
            self._wake()

    def stream(self) -> deque[Message]:
        """Respond with a stream from now on; returns the queue of its messages."""
        if self._unsent is None:
            self._unsent = deque(maxlen=MAX_UNSENT)
            self._sending = asyncio.create_task(self._send_stream(self._unsent))
        return self._unsent

    async def run(self, answering: Coroutine[Any, Any, Message | None]) -> None:
        """Send the notifications and the response, in the request's task."""
        request = self._request
        try:
            if self._modern and request.gone:
                answering.close()
                return
            request.on_gone = request.cancel if self._modern else self._wake
            if self._open_stream is not None and not request.gone:
                request.connection.remind(STREAM_AFTER, self.stream)
            self._answer = answer = await answering
            self._done = True
            body = b"" if self._sending is not None or answer is None else await encode_any(answer)
            if self._sending is not None:  # perhaps begun while a large answer was encoded
                self._wake()
                await self._sending
            elif answer is None:
                request.answer(202, headers=self._headers)
            else:
                status = 200 if "result" in answer else status_of(answer, modern=self._modern)
                if len(body) <= PIECE:
                    request.answer(status, body, JSON, self._headers)
                else:
                    await request.answer_large(status, body, JSON, self._headers)
        except asyncio.CancelledError:
            if self._sending is not None:
                self._sending.cancel()
            raise
        except Exception:
            logger.exception("a request could not be answered")
            request.fail()
        finally:
            if request.task is not None:
                self._tasks.discard(request.task)
                request.task = None  # its context refers to the request: a cycle

    async def _send_stream(self, unsent: deque[Message]) -> None:
        request = self._request
        kept = self._open_stream() if self._open_stream is not None else None
        encoded = event if kept is None else kept.add
        request.open_stream((*STREAM_HEADERS, *self._headers))
        if kept is not None:
            await request.send(kept.opening())
        while not request.gone and not (self._interrupted and kept is not None):
            if unsent:
                await request.send(await encoded(unsent.popleft()))
            elif self._done:
                if self._answer is not None:
                    await request.send(await encoded(self._answer))
                if kept is not None:
                    kept.finish()
                break
            elif not await self._woken(KEEP_ALIVE):
                await request.send(COMMENT)
        request.end_stream()
        if kept is not None and not kept.done:
            await self._keep_rest(kept, unsent)

    async def _keep_rest(self, kept: ResumableStream, unsent: deque[Message]) -> None:
        """Keep further messages until the client comes back for them."""
        while unsent or not self._done:
            while unsent:
                await kept.add(unsent.popleft())
            if not self._done:
                await self._woken()
        if self._answer is not None:
            await kept.add(self._answer)
        kept.finish()

    async def _woken(self, within: float | None = None) -> bool:
        """Wait until there is something to do; False after so many seconds without."""
        loop = asyncio.get_running_loop()
        self._wakeup = loop.create_future()
        timer = None if within is None else loop.call_later(within, self._end_wait, False)
        try:
            return await self._wakeup
        finally:
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        self._end_wait(True)

    def _end_wait(self, woken: bool) -> None:
        if self._wakeup is not None and not self._wakeup.done():
            self._wakeup.set_result(woken)


async def event(message: Message) -> bytes:
    """A message as an event of a stream."""
    return b"event: message\ndata: %b\n\n" % await encode_any(message)


def status_of(answer: Message, *, modern: bool) -> int:
    """The HTTP status of a response; some errors of the modern era have their own."""
    error = answer.get("error")
    return 200 if error is None else (_MODERN_STATUS if modern else _STATUS).get(error.get("code"), 200)


async def stream_changes(session: HttpSession, request: HttpRequest) -> None:
    """Send the messages of a session's outbox, until the client disconnects or the session ends."""
    queue: Queue = asyncio.Queue(MAX_QUEUED)
    session.outbox.queue = queue
    try:
        request.open_stream(STREAM_HEADERS)
        await request.send(COMMENT)
        await _send_queue(queue, request)
        request.end_stream()
    finally:
        session.outbox.queue = None


async def resume(stream: ResumableStream, number: int, request: HttpRequest) -> None:
    """Send the rest of a stream, after the event of this number, to its end."""
    hung_up = request.hung_up()
    request.open_stream(STREAM_HEADERS)
    while not request.gone:
        for kept in stream.after(number):
            number += 1
            await request.send(kept)
        if stream.done:
            break
        changed = asyncio.ensure_future(stream.changed())
        waits: set[asyncio.Future[Any]] = {changed, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        if not changed.done():
            changed.cancel()
            await request.send(COMMENT)
    request.end_stream()


async def _send_queue(queue: Queue, request: HttpRequest) -> None:
    hung_up = request.hung_up()
    while not request.gone:
        waiting = asyncio.ensure_future(queue.get())
        waits: set[asyncio.Future[Any]] = {waiting, hung_up}
        await asyncio.wait(waits, timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
        message = waiting.result() if waiting.done() else {}
        waiting.cancel()
        if message is None:
            return
        await request.send(await event(message) if message else COMMENT)

"""Sessions of clients, the responses to their requests, and the load of an address with its limits. When a
response becomes a stream, how often a silent one sends a keep-alive (15 s), and what is kept to resume it.

A legacy client has a session, which is kept between requests and closed when it is idle for long. Clients
since 2025-11-25 that lose their connection can ask for the rest of a response; what is kept for them is
bounded and ends with the session.

A response is a JSON object for a POST, or an event stream. Most are plain JSON, sent by the task that made
them. The first notification, or the first request of a server to the client, turns the response into an event
stream; so does a response that takes long, if the client can resume a stream. A GET opens the stream of
changes, or resumes one that was cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from toolcrib.config.settings import GatewaySettings
from toolcrib.errors import PeerError
from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.request import JSON, PIECE, Header, HttpRequest
from toolcrib.gateway.identity import session_of
from toolcrib.gateway.wire import PendingRequests, encode_any
from toolcrib.serverkit.protocol import METHOD_NOT_FOUND, Message

MAX_QUEUED = 1000
RESUMABLE_SINCE = "2025-11-25"
"""From this version on an empty event may open a stream; older clients fail on it."""
RETRY_MS = 1000
MAX_STREAMS = 64
MAX_BYTES = 4 * 1024 * 1024
"""Of one stream; a longer one cannot be resumed."""

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


class Load:
    """Counts clients and requests of all endpoints of one address; the limits may change while it runs."""

    def __init__(self, limits: GatewaySettings) -> None:
        self.update(limits)
        self.clients = 0
        """Sessions of the legacy era, and streams of modern clients."""
        self.calls = 0
        self.ending = False
        """Nothing new is accepted."""
        self.draining = False
        """Shutdown waits until no request is running."""
        self._idle = asyncio.Event()
        self._endpoints: list[Sessions] = []

    def update(self, limits: GatewaySettings) -> None:
        """Apply these limits from now on."""
        self.limits = limits
        self.max_body_bytes = limits.max_body_bytes
        self.max_calls = limits.max_calls
        self.max_calls_per_session = limits.max_calls_per_session
        self.session_idle = limits.session_idle

    def join(self, endpoint: Sessions) -> None:
        """Add the sessions of an endpoint."""
        self._endpoints.append(endpoint)

    def leave(self, endpoint: Sessions) -> None:
        """Remove the sessions of an endpoint that ended."""
        if endpoint in self._endpoints:
            self._endpoints.remove(endpoint)

    def make_room_for_client(self, endpoint: Sessions) -> bool:
        """True if another client of this endpoint is allowed; at a limit, an idle session is closed for it.

        One endpoint has only its share, so that a flood there cannot lock out the clients of another; of
        several endpoints the largest gives way first.
        """
        if len(endpoint) >= self._share:
            return endpoint.evict()
        if self.clients < self.limits.max_sessions:
            return True
        return any(endpoint.evict() for endpoint in sorted(self._endpoints, key=len, reverse=True))

    @property
    def _share(self) -> int:
        """How many clients one endpoint may have: all, or three quarters if there are other endpoints."""
        most = self.limits.max_sessions
        return most if len(self._endpoints) == 1 else max(1, most * 3 // 4)

    @property
    def max_connections(self) -> int:
        """At most half of the file descriptors of this process: servers need the others."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = self.limits.max_connections
        return allowed if soft == resource.RLIM_INFINITY else min(allowed, max(16, soft // 2))

    def check_idle(self) -> None:
        """A request has ended while shutdown waits."""
        if not self.calls:
            self._idle.set()

    async def until_idle(self) -> None:
        """Wait until no request is running."""
        self.draining = True
        while self.calls:
            self._idle.clear()
            await self._idle.wait()


class ResumableStream:
    """The events of the response to one request."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(9)
        self.done = False
        self._events: list[bytes] = []
        self._bytes = 0
        self._changed = asyncio.Event()

    @property
    def is_complete(self) -> bool:
        """False when it became too long, and its events were dropped."""
        return self._bytes <= MAX_BYTES

    def opening(self) -> bytes:
        """The event that opens the stream."""
        return f"id: {self.id}.0\nretry: {RETRY_MS}\ndata:\n\n".encode()

    async def add(self, message: Message) -> bytes:
        """Encode and keep the next event; only one is added at a time."""
        body = await encode_any(message)
        number = len(self._events) + 1
        event = b"event: message\nid: %b.%d\ndata: %b\n\n" % (self.id.encode(), number, body)
        self._bytes += len(event)
        self._events.append(event if self.is_complete else b"")
        if not self.is_complete:
            self._events = [b""] * number
        self._notify()
        return event

    def finish(self) -> None:
        self.done = True
        self._notify()

    def after(self, number: int) -> list[bytes]:
        """The events after the one of this number."""
        return self._events[number:]

    async def changed(self) -> None:
        """Wait for the next event, or the end."""
        await self._changed.wait()

    def _notify(self) -> None:
        before, self._changed = self._changed, asyncio.Event()
        before.set()


class ResumableStreams:
    """The latest streams of one session."""

    def __init__(self) -> None:
        self._streams: dict[str, ResumableStream] = {}

    def open(self) -> ResumableStream:
        """A new stream; at the limit, the oldest is dropped."""
        while len(self._streams) >= MAX_STREAMS:
            del self._streams[next(iter(self._streams))]
        stream = ResumableStream()
        self._streams[stream.id] = stream
        return stream

    def find(self, last_event_id: str) -> tuple[ResumableStream, int] | None:
        """The stream of an event, and the event's number; None if it can no longer be resumed."""
        name, _, number = last_event_id.rpartition(".")
        stream = self._streams.get(name)
        if stream is None or not stream.is_complete or not number.isdecimal():
            return None
        return stream, int(number)


Queue = asyncio.Queue[Message | None]
"""None ends the stream."""


class Outbox:
    """Messages for a client outside its requests; dropped while it has no stream open."""

    def __init__(self) -> None:
        self.queue: Queue | None = None

    def push(self, message: Message) -> None:
        """Queue a message for a client that listens; if it does not read, the newest are dropped."""
        if self.queue is not None and not self.queue.full():
            self.queue.put_nowait(message)

    def end(self) -> None:
        """End the client's stream."""
        if self.queue is None:
            return
        if self.queue.full():
            with contextlib.suppress(asyncio.QueueEmpty):
                self.queue.get_nowait()
        self.queue.put_nowait(None)


class HttpSession:
    """The session of one legacy client."""

    def __init__(self, gateway: Gateway) -> None:
        self.id = secrets.token_urlsafe(24)
        self.outbox = Outbox()
        self.client = GatewayClient(gateway, self.outbox, session_of(gateway.profile.name))
        self.requests = PendingRequests()
        """Requests of servers to the client."""
        self.streams = ResumableStreams()
        self.open_stream: Callable[[], ResumableStream] | None = None
        """Opens a resumable stream; None if the client's version has none."""
        self.last_used = time.monotonic()
        self.calls = 0
        """Running requests."""

    def opened(self) -> None:
        """The protocol version is negotiated."""
        resumable = (self.client.version or "") >= RESUMABLE_SINCE
        self.open_stream = self.streams.open if resumable else None

    @property
    def is_connected(self) -> bool:
        """True while the client has a request or a stream open."""
        return self.calls > 0 or self.outbox.queue is not None

    def is_idle(self, now: float, limit: float) -> bool:
        """True when the client has had no connection for so many seconds."""
        return not self.is_connected and now - self.last_used > limit


class Sessions:
    """The sessions of one endpoint. At the limit, the one idle longest is closed for a new one."""

    def __init__(self, gateway: Gateway, load: Load) -> None:
        self._gateway = gateway
        self._load = load
        self._sessions: dict[str, HttpSession] = {}
        self.streams = 0
        """Of modern clients that only listen; they count as clients but cannot be closed for others."""
        load.join(self)

    def __len__(self) -> int:
        return len(self._sessions) + self.streams

    def open(self) -> HttpSession | None:
        """A new session; None when too many clients are connected."""
        if not self._load.make_room_for_client(self):
            return None
        session = HttpSession(self._gateway)
        self._sessions[session.id] = session
        self._load.clients += 1
        return session

    def find(self, session_id: str | None) -> HttpSession | None:
        """The session of this id, marked as used now."""
        session = self._sessions.get(session_id) if session_id is not None else None
        if session is not None:
            session.last_used = time.monotonic()
        return session

    def close(self, session: HttpSession) -> None:
        """Close a session: its requests are cancelled, and its stream ends."""
        if self._sessions.pop(session.id, None) is None:
            return
        self._load.clients -= 1
        session.requests.fail_all()
        session.client.end()
        session.outbox.end()

    def evict(self) -> bool:
        """Close the session that has been idle longest; False when every client is connected."""
        idle = [session for session in self._sessions.values() if not session.is_connected]
        if not idle:
            return False
        self.close(min(idle, key=lambda session: session.last_used))
        return True

    def close_all(self) -> None:
        """Close all; the endpoint ended."""
        self._load.leave(self)
        for session in list(self._sessions.values()):
            self.close(session)

    def end_streams(self) -> None:
        """End all streams of changes; requests continue."""
        for session in self._sessions.values():
            session.outbox.end()

    def sweep(self) -> None:
        """Close those that are idle for too long."""
        now, limit = time.monotonic(), self._load.session_idle
        for session in [session for session in self._sessions.values() if session.is_idle(now, limit)]:
            self.close(session)


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

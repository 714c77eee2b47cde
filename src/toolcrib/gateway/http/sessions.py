"""Sessions of clients of the legacy era, the streams that such a client can resume, and the load of an
address with its limits: what exceeds them is refused.

A session is kept between requests and closed when it is idle for long. Clients since 2025-11-25 that lose
their connection can ask for the rest of a response; what is kept for them is bounded and ends with the
session.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import secrets
import time
from collections.abc import Callable

from toolcrib.config.settings import GatewaySettings
from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.identity import session_of
from toolcrib.gateway.wire import PendingRequests, encode_any
from toolcrib.serverkit.protocol import Message

MAX_QUEUED = 1000
RESUMABLE_SINCE = "2025-11-25"
"""From this version on an empty event may open a stream; older clients fail on it."""
RETRY_MS = 1000
MAX_STREAMS = 64
MAX_BYTES = 4 * 1024 * 1024
"""Of one stream; a longer one cannot be resumed."""


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

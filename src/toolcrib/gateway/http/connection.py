"""An HTTP connection: reads requests, has them answered one at a time and in order, and enforces its limits:
idle time, time for a request to arrive, pipelined requests, clients that do not read.

A request must arrive within a time, its head must be small, and the client must read the answers. Requests
sent before the previous one is answered wait, and nothing more is read meanwhile. All state of a connection
is in one object. A head that came before, byte for byte, is not parsed again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, cast

from toolcrib.gateway.http.parser import (
    EMPTY,
    END_OF_HEAD,
    MAX_CACHED_HEAD,
    MAX_HEAD,
    TOO_LONG,
    BadRequest,
    Head,
    RequestParser,
    may_begin_request,
)
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.sessions import Load

_TOLERANCE = 0.002
"""Seconds by which a timer may fire early: event loops count in milliseconds."""

logger = logging.getLogger(__name__)

MAX_HEADS = 8
"""Heads that a connection remembers; they differ in the length of the body, if in anything."""
MAX_WAITING = 64
"""Requests that a client may send before the first of them is answered."""
IDLE = 5.0
"""Seconds after which an idle connection is closed; clients rely on this time."""
LINGERING = 5.0
"""Seconds in which the rest of a refused request is read and ignored: closed at once, the connection of a
client that is still sending would be reset, and the client would not see the refusal."""


class ConnectionTimer:
    """Runs one action at one time. A timer that fires before a deadline that was moved is set again; moving
    the deadline itself touches no timer."""

    __slots__ = ("_at", "_fires_at", "_loop", "_timer", "action")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.action: Callable[[], object] | None = None
        """None for no deadline."""
        self._timer: asyncio.TimerHandle | None = None
        self._at = self._fires_at = 0.0

    def set(self, seconds: float, action: Callable[[], object]) -> None:
        """Run this after so many seconds, instead of the action before."""
        self.action = action
        self._at = at = self._loop.time() + seconds
        if self._timer is None or at < self._fires_at:
            self._arm()

    def close(self) -> None:
        self.action = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fires_at = self._at
        self._timer = self._loop.call_at(self._at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        action = self.action
        if action is None:
            return
        if self._at - self._loop.time() > _TOLERANCE:
            self._arm()
            return
        self.action = None
        action()


class RequestHandler(Protocol):
    """Answers requests. Both methods return at once."""

    def check_head(self, request: HttpRequest) -> None:
        """The head has arrived: refuse the request now, or do nothing."""

    def handle(self, request: HttpRequest) -> None:
        """The whole request has arrived: answer it now or later."""


class HttpConnection(asyncio.Protocol):
    """One connection; it is in `opened` for as long as it lasts."""

    def __init__(
        self,
        application: RequestHandler,
        load: Load,
        opened: set[HttpConnection],
        refuses: Callable[[Any, Any], bool] = lambda ours, theirs: False,
    ) -> None:
        """`refuses` gets our address and the client's."""
        self._refuses = refuses
        self._application = application
        self._load = load
        self._opened = opened
        self._loop = asyncio.get_running_loop()
        self._deadline = ConnectionTimer(self._loop)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self.write: Callable[[bytes], None]
        self.remind = self._deadline.set
        """Runs an action after so many seconds, unless the current request is answered before."""
        self._reached: str | None = None
        self._held = bytearray()
        """The beginning of a head."""
        self._incoming: HttpRequest | None = None
        """The request whose body is arriving."""
        self._missing = 0
        """Bytes of its body still to come."""
        self._parser: RequestParser | None = None
        """Reads its body if that is chunked."""
        self._partial = False
        """A request has arrived in part."""
        self._heads: dict[bytes, Head] = {}
        """By their bytes. Most clients send the same head with most of their requests."""
        self._requests: deque[HttpRequest] = deque()
        """Those whose heads have arrived; the first is being answered."""
        self._arriving = True
        """The deadline is for the rest of a request."""
        self._reading = True
        self._closed = False
        """Nothing more is answered."""
        self._passing_on = False
        self._paused = False
        self._writable: asyncio.Future[None] | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    # The transport calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.write = self._transport.write
        place = transport.get_extra_info("sockname")
        self._reached = str(place[0]) if place else None
        self._opened.add(self)
        if len(self._opened) > self._load.max_connections:
            self._refuse(503, "Too many connections are open; try again later.")
        elif place and self._refuses(place, transport.get_extra_info("peername")):
            self._refuse(403, "Commands of a terminal and sandboxed servers cannot use the gateway.")
        else:
            self._deadline.set(self._load.limits.request_timeout, self._time_out)

    def connection_lost(self, exc: Exception | None) -> None:
        self._opened.discard(self)
        self._closed, self._reading = True, False
        self._parser = None
        self._deadline.close()
        self.resume_writing()
        for request in tuple(self._requests):
            request.lose()

    def data_received(self, data: bytes) -> None:
        if not self._reading:
            return
        try:
            if self._held:
                data = self._join(data)
            while data:
                data = self._read_head(data) if self._incoming is None else self._read_body(data)
        except BadRequest as error:
            self._refuse(error.status, error.text)
        self._partial = self._incoming is not None or bool(self._held)
        if self._requests:
            self._pass_on()
        elif self._partial:
            self._wait_for_rest()

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self._watch_writes()

    def resume_writing(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)
        if self._requests and not self._closed:
            self._pass_on()

    # Reading.

    def _read_head(self, data: bytes) -> bytes:
        """Begin a request, and complete it if its body is here too; returns the bytes after it."""
        end = data.find(END_OF_HEAD) + len(END_OF_HEAD)
        head = self._heads.get(data[:end])
        if head is None:
            if data.startswith((b"\r", b"\n")):
                return data.lstrip(b"\r\n")  # servers ignore empty lines before a request (RFC 9112, 2.2)
            if end < len(END_OF_HEAD):
                return self._hold(data)
            head = self._parse_head(data[:end])
        request = HttpRequest(self, head, self._reached)
        self._requests.append(request)
        after = end + head.length
        if after > len(data) or head.chunked or head.length > self._load.max_body_bytes:
            self._expect_body(request)
            return data[end:]
        request.body = data[end:after]
        request.whole = True
        if self._arriving:
            self._end_arrival()
        return data[after:] if head.keep_alive else self._stop_reading()

    def _parse_head(self, data: bytes) -> Head:
        if len(data) > MAX_HEAD:
            raise BadRequest(431, TOO_LONG)
        parser = RequestParser()
        head = parser.read_head(data)
        if head.chunked:
            self._parser = parser
        if head.cacheable and len(data) <= MAX_CACHED_HEAD:
            if len(self._heads) >= MAX_HEADS:
                del self._heads[next(iter(self._heads))]
            self._heads[data] = head
        return head

    def _expect_body(self, request: HttpRequest) -> None:
        self._incoming = request
        self._missing = request.head.length
        request.too_large = self._missing > self._load.max_body_bytes

    def _read_body(self, data: bytes) -> bytes:
        request, most = cast(HttpRequest, self._incoming), self._load.max_body_bytes
        if self._parser is not None:
            parts, rest = self._parser.feed_chunks(data)
            for part in parts:
                request.add_body(part, most)
            complete = self._parser.complete
            request.keep_alive = request.keep_alive and self._parser.keep_alive
        else:
            part, rest = data[: self._missing], data[self._missing :]
            request.add_body(part, most)
            self._missing -= len(part)
            complete = not self._missing
        if complete:
            self._incoming = self._parser = None
            request.complete()
            self._end_arrival()
            if not request.keep_alive:
                return self._stop_reading()
        return rest

    def _end_arrival(self) -> None:
        if self._arriving:
            self._arriving = False
            self._deadline.action = None

    def _stop_reading(self) -> bytes:
        """The connection ends with this request; the bytes after it are ignored."""
        self._reading = False
        return b""

    def _hold(self, data: bytes) -> bytes:
        """Keep the beginning of a head until the rest of it comes."""
        seen = len(self._held)
        self._held += data
        if len(self._held) > MAX_HEAD:
            raise BadRequest(431, TOO_LONG)
        if not may_begin_request(self._held, seen):
            raise BadRequest
        return b""

    def _join(self, data: bytes) -> bytes:
        """The held bytes and these, once the head is complete; else nothing."""
        seen = max(0, len(self._held) - len(END_OF_HEAD) + 1)
        if (self._held[seen:] + data).find(END_OF_HEAD) < 0:
            return self._hold(data)
        data, self._held = bytes(self._held + data), bytearray()
        return data

    # A request calls these.

    async def drained(self) -> None:
        """Wait until the client has read enough for more to be sent."""
        if self._writable is not None:
            await asyncio.shield(self._writable)

    def answered(self, request: HttpRequest) -> None:
        """Continue with the next request."""
        busy = self._passing_on or self._closed or self._partial or self._paused
        if request.keep_alive and not busy and len(self._requests) == 1:
            self._requests.popleft()  # the usual case: no other request came meanwhile
            self._deadline.set(IDLE, self._close)
            return
        if not self._arriving:
            self._deadline.action = None
        if not request.keep_alive:
            self._close()
        elif not self._passing_on and not self._closed:
            self._pass_on()

    def abort(self) -> None:
        self._closed, self._reading = True, False
        self._transport.abort()

    # The server calls this.

    def finish(self) -> None:
        """Accept nothing new, and close once the requests so far are answered."""
        if not self._requests:
            self._close()
        else:
            self._requests[-1].keep_alive = False

    def _close(self) -> None:
        self._closed, self._reading = True, False
        if self._incoming is None or self._transport.is_closing():
            self._transport.close()
        else:
            self._transport.write_eof()
            self._deadline.set(LINGERING, self._transport.close)

    def _pass_on(self) -> None:
        """Pass the requests on to the application: in order, and one at a time."""
        self._passing_on = True
        requests = self._requests
        while requests:
            request = requests[0]
            if not request.answered:
                if self._writable is not None:
                    break  # the client has not read the answers before this one
                self._advance(request)
            if self._closed or not (request.answered and request.whole):
                break
            requests.popleft()
        self._passing_on = False
        if not self._closed and (len(requests) != 1 or self._partial or self._paused):
            self._await_more()

    def _advance(self, request: HttpRequest) -> None:
        try:
            if not request.met:
                request.met = True
                self._application.check_head(request)
            if request.answered:
                return
            if request.too_large:
                most = self._load.max_body_bytes
                request.say(413, f"A message may have at most {most:,} bytes.", close=True)
            elif request.whole:
                if not request.taken:
                    request.taken = True
                    if not self._arriving:
                        self._deadline.action = None  # of the idle connection: an answer may take long
                    self._application.handle(request)
            elif request.head.expects_continue and not request.continued:
                request.continued = True
                self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        except Exception:
            logger.exception("a request could not be handled")
            request.fail()

    def _await_more(self) -> None:
        """Read on unless requests are waiting, and set the deadline for what comes next."""
        ahead = len(self._requests)
        if ahead > 1:
            self._hold_back(ahead)
            return
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        if self._partial:
            self._wait_for_rest()
        elif not ahead:
            self._deadline.set(IDLE, self._close)

    def _hold_back(self, ahead: int) -> None:
        if ahead > MAX_WAITING:
            self._refuse(503, "Too many pipelined requests.")
        elif not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _wait_for_rest(self) -> None:
        if not self._reading:
            return
        if not self._arriving and (not self._requests or self._requests[0] is self._incoming):
            self._arriving = True
            self._deadline.set(self._load.limits.request_timeout, self._time_out)

    def _time_out(self) -> None:
        self._refuse(408, "The request did not arrive in time.")

    def _refuse(self, status: int, text: str) -> None:
        """Read no more, and close; with an error response, unless another response is being sent."""
        self._reading = False
        broken = self._requests.pop() if self._requests and not self._requests[-1].whole else None
        if self._requests:
            self._requests[-1].keep_alive = False  # those before it are still answered
        elif broken is None or not broken.started:
            HttpRequest(self, EMPTY, None).say(status, text, (b"retry-after", b"1"), close=True)
        else:
            self._close()

    def _watch_writes(self) -> None:
        left = self._transport.get_write_buffer_size()
        self._stall_timer = self._loop.call_later(self._load.limits.request_timeout, self._check_writes, left)

    def _check_writes(self, before: int) -> None:
        """A slow client may continue; one that has read nothing since the last check is disconnected."""
        if self._transport.get_write_buffer_size() < before:
            self._watch_writes()
        else:
            self.abort()

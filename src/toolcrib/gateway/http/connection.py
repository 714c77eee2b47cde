"""The HTTP connections themselves: a request must arrive whole in time, its head must be small, its answer
must be taken, and only so many connections may be open.

The parser is llhttp at its strictest: what could be read in two ways is refused. Requests that were sent
before the answer to the one ahead of them wait for their turn, and nothing more is read meanwhile. Between
the parser and the application there is nothing but one object a request, and no timer of its own. A head that
came before, byte for byte, is not parsed again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, cast
from urllib.parse import unquote

import httptools

from toolcrib.gateway.http.alarm import Alarm
from toolcrib.gateway.http.heads import Head, Heads
from toolcrib.gateway.http.limits import Load
from toolcrib.gateway.http.request import NAMES, SINGLE, HttpRequest, header_name

logger = logging.getLogger(__name__)

MAX_HEAD = 64 * 1024
"""Bytes of a request that are not its body; of one with a body in chunks, as many more as it has."""
MAX_WAITING = 64
"""Requests that a client may send ahead of their turn."""
IDLE = 5.0
"""Seconds after which a connection that nothing is asked on is closed; clients know this time."""


class Application(Protocol):
    """Who answers. Both methods are plain calls, and must not wait."""

    def meet(self, request: HttpRequest) -> None:
        """The head has arrived: refuse the request now, or leave it alone."""

    def take(self, request: HttpRequest) -> None:
        """The whole request has arrived: answer it now or later."""


class Connection(asyncio.Protocol):
    """One of them; it is among `opened` for as long as it lasts."""

    def __init__(
        self,
        application: Application,
        load: Load,
        opened: set[Connection],
        refuses: Callable[[Any, Any], bool] = lambda ours, theirs: False,
    ) -> None:
        """`refuses` is asked with both addresses of the connection."""
        self._refuses = refuses
        self._application = application
        self._load = load
        self._opened = opened
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._loop)
        self._parser: Any = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self.write: Callable[[bytes], None]
        """Sends this."""
        self.remind = self._alarm.set
        """Does this after so many seconds, unless the request that is being answered is answered before."""
        self._reached: str | None = None
        self._url = b""
        self._incoming = HttpRequest(self, None)
        """The one that is arriving, or the last one that did."""
        self._headers: dict[str, str] = {}
        """Where headers go: its own, or nowhere when they come after its body and mean nothing here."""
        self._partial = False
        self._heads = Heads()
        self._requests: deque[HttpRequest] = deque()
        """Those whose heads have arrived, the first of which is being answered."""
        self._overhead = 0
        self._arriving = True
        """The alarm is set for the rest of a request."""
        self._deaf = False
        """Nothing more is read."""
        self._over = False
        """Nothing more is answered."""
        self._proceeding = False
        self._paused = False
        self._writable: asyncio.Future[None] | None = None
        self._unread: asyncio.TimerHandle | None = None

    # The transport calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.write = self._transport.write
        place = transport.get_extra_info("sockname")
        self._reached = str(place[0]) if place else None
        self._opened.add(self)
        if len(self._opened) > self._load.most_connections:
            self._refuse(503, "Too many connections are open; try again later.")
        elif place and self._refuses(place, transport.get_extra_info("peername")):
            self._refuse(403, "Commands of this host's own terminal are not served.")
        else:
            self._alarm.set(self._load.limits.request_timeout, self._too_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._opened.discard(self)
        self._over = self._deaf = True
        self._parser = None
        self._alarm.close()
        self.resume_writing()
        for request in tuple(self._requests):
            request.lose()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        known = None if self._partial else self._heads.recall(data, self._load.max_body_bytes)
        if known is None:
            self._parse(data)
        else:
            self._recognise(*known)
        if self._requests:
            self._proceed()
        elif self._partial:
            self._wait_for_rest()

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self._watch()

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)
        if self._requests and not self._over:
            self._proceed()

    def _parse(self, data: bytes) -> None:
        begins = not self._partial
        self._overhead += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._deaf = True  # answered as plain HTTP; what follows would be something else
            self._requests[-1].keep_alive = False
        except httptools.HttpParserError:
            self._refuse(400, "Invalid HTTP request received.")
        else:
            if begins and not self._partial:
                self._heads.learn(data, self._incoming)

    def _recognise(self, head: Head, body: bytes) -> None:
        """Do what the parser would do with a whole request, of which it has seen the head before."""
        self._incoming = request = HttpRequest(self, self._reached)
        request.head = head
        request.method = head.method
        request.target = head.target
        request.path = head.path
        request.headers = head.headers
        request.body = body
        request.whole = True
        self._requests.append(request)
        if self._arriving:
            self._arriving = False
            self._alarm.clear()

    # The parser calls these.

    def on_message_begin(self) -> None:
        self._url = b""
        self._partial = True
        self._incoming = HttpRequest(self, self._reached)
        self._incoming.headers = self._headers = {}

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        headers = self._headers
        known = NAMES.get(name) or header_name(name)
        if known in headers and known in SINGLE:
            self._incoming.contradictory = True
        headers[known] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        request, parser = self._incoming, self._parser
        method = parser.get_method()
        request.method = "POST" if method == b"POST" else method.decode("ascii")
        request.target = self._url
        request.path = _path(self._url)
        headers, self._headers = self._headers, {}
        if not parser.should_keep_alive() or "connection" in headers:  # else it cannot be an old one
            request.old = parser.get_http_version() == "1.0"
            request.keep_alive = not request.old and parser.should_keep_alive()
        if "expect" in headers:
            request.expects = headers["expect"].lower() == "100-continue"
        if int(headers.get("content-length", 0)) > self._load.max_body_bytes:
            request.too_large = True
        self._requests.append(request)

    def on_body(self, body: bytes) -> None:
        self._incoming.add_body(body, self._load.max_body_bytes)
        self._overhead -= 2 * len(body)

    def on_message_complete(self) -> None:
        self._incoming.complete()
        self._partial = False
        self._overhead = 0
        if self._arriving:
            self._arriving = False
            self._alarm.clear()

    # A request calls these.

    async def drained(self) -> None:
        """Wait until the client has read so much that more can be sent."""
        if self._writable is not None:
            await asyncio.shield(self._writable)

    def answered(self, request: HttpRequest) -> None:
        """The turn of the next one."""
        elsewhere = self._proceeding or self._over or self._partial or self._paused
        if request.keep_alive and not elsewhere and len(self._requests) == 1:
            self._requests.popleft()  # nothing came meanwhile, as nearly always
            self._alarm.set(IDLE, self._close)
            return
        if not self._arriving:
            self._alarm.clear()
        if not request.keep_alive:
            self._close()
        elif not self._proceeding and not self._over:
            self._proceed()

    def abort(self) -> None:
        """Hang up at once."""
        self._over = self._deaf = True
        self._transport.abort()

    # Whoever serves calls this.

    def finish(self) -> None:
        """Take nothing new, and end as soon as what was asked for is answered."""
        if not self._requests:
            self._close()
        else:
            self._requests[-1].keep_alive = False

    # Its own.

    def _close(self) -> None:
        self._over = self._deaf = True
        self._transport.close()

    def _proceed(self) -> None:
        """Let the application have what has arrived: in order, and one at a time."""
        self._proceeding = True
        requests = self._requests
        while requests:
            request = requests[0]
            if not request.answered:
                if self._writable is not None:
                    break  # the client has not read the answers before this one
                self._advance(request)
            if self._over or not (request.answered and request.whole):
                break
            requests.popleft()
        self._proceeding = False
        if not self._over and (len(requests) != 1 or self._partial or self._paused):
            self._await_more()

    def _advance(self, request: HttpRequest) -> None:
        try:
            if not request.met:
                request.met = True
                self._application.meet(request)
            if request.answered:
                return
            if request.too_large:
                most = self._load.max_body_bytes
                request.say(413, f"A message may have {most:,} bytes.", close=True)
            elif request.whole:
                if not request.taken:
                    request.taken = True
                    if not self._arriving:
                        self._alarm.clear()  # that of the idle connection: an answer may take its time
                    self._application.take(request)
            elif request.expects:
                request.expects = False
                self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        except Exception:
            logger.exception("a request could not be taken")
            request.fail()

    def _await_more(self) -> None:
        """Read on, but not while requests wait for their turn; and not for ever."""
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
            self._alarm.set(IDLE, self._close)

    def _hold_back(self, ahead: int) -> None:
        if ahead > MAX_WAITING:
            self._refuse(503, "Too many requests were sent ahead.")
        elif not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _wait_for_rest(self) -> None:
        if self._deaf:
            return
        if not self._arriving and (not self._requests or self._requests[0] is self._incoming):
            self._arriving = True
            self._alarm.set(self._load.limits.request_timeout, self._too_late)
        if self._overhead > MAX_HEAD:
            self._refuse(431, f"The head of a request may have {MAX_HEAD} bytes.")

    def _too_late(self) -> None:
        self._refuse(408, "The request did not arrive in time.")

    def _refuse(self, status: int, text: str) -> None:
        """Read no more, and close the connection; say why where nothing else is being said on it."""
        self._deaf = True
        broken = self._requests.pop() if self._requests and not self._requests[-1].whole else None
        if self._requests:
            self._requests[-1].keep_alive = False  # those ahead of it are answered yet
        elif broken is None or not broken.started:
            HttpRequest(self, None).say(status, text, (b"retry-after", b"1"), close=True)
        else:
            self._close()

    def _watch(self) -> None:
        left = self._transport.get_write_buffer_size()
        self._unread = self._loop.call_later(self._load.limits.request_timeout, self._look, left)

    def _look(self, before: int) -> None:
        """A slow reader may go on; one that took nothing since the last look is gone."""
        if self._transport.get_write_buffer_size() < before:
            self._watch()
        else:
            self.abort()


def _path(url: bytes) -> str:
    """The path of a request's target, which may be a whole address."""
    path = url if url.startswith(b"/") else httptools.parse_url(url).path or b""
    text: str = path.partition(b"?")[0].decode("ascii")
    return unquote(text) if "%" in text else text

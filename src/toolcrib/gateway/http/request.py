"""One HTTP request and its response: complete and in one packet, or a stream as fast as the client reads;
responses for a missing token and for "retry later"."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Protocol

from toolcrib.gateway.http.parser import Head
from toolcrib.serverkit.encoding import encode
from toolcrib.serverkit.protocol import Refusal, refuse

Header = tuple[bytes, bytes]
JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"
BUSY = -32000
"""The JSON-RPC code of a request that may be sent again later."""

PIECE = 256 * 1024
"""Bytes passed to the transport at once: it copies what it cannot send yet."""
_STATUS = {status.value: f"{status.value} {status.phrase}".encode() for status in HTTPStatus}


class RequestConnection(Protocol):
    """The connection of a request."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """Sends bytes."""

    @property
    def remind(self) -> Callable[[float, Callable[[], object]], None]:
        """Runs an action after so many seconds, unless the request is answered before."""

    async def drained(self) -> None:
        """Wait until the client has read enough for more to be sent."""

    def answered(self, request: HttpRequest) -> None:
        """The response is complete; without `keep_alive` the connection ends with it."""

    def abort(self) -> None:
        """Disconnect at once."""


class HttpRequest:
    """The connection fills it while it arrives; the application answers it once.

    Usual values are class attributes, because one is made for every call.
    """

    body = b""
    """Complete once `whole` is set."""
    whole = too_large = continued = False
    met = taken = False
    """The application has checked its head; has been given it."""
    started = answered = False
    gone = False
    """The client disconnected."""
    on_gone: Callable[[], object] | None = None
    admission: Any = None
    """Set by the application when it admits the request; the connection does not look at it."""
    task: asyncio.Task[None] | None = None
    """Makes the response, if it takes time."""
    _parts: list[bytes] | None = None
    _size = 0
    _chunked = False
    _gone: asyncio.Future[None] | None = None

    def __init__(self, connection: RequestConnection, head: Head, reached: str | None) -> None:
        self.connection = connection
        self.head = head
        """Requests of one connection that begin with the same bytes share it."""
        self.method = head.method
        self.target = head.target
        """The path as the client wrote it, and the query."""
        self.path = head.path
        self.headers = head.headers
        self.keep_alive = head.keep_alive
        self.reached = reached
        """Our own address that the connection came to."""

    def add_body(self, part: bytes, most: int) -> None:
        """Add a piece; a body of more than so many bytes is dropped."""
        self._size += len(part)
        if self._size > most:
            self.too_large = True
            self._parts = None
        elif not self.answered:
            self._parts = self._parts or []
            self._parts.append(part)

    def complete(self) -> None:
        self.whole = True
        self.body = b"".join(self._parts or ())
        self._parts = None

    def lose(self) -> None:
        """The client disconnected."""
        self.gone = True
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        if self.on_gone is not None:
            self.on_gone()

    def hung_up(self) -> asyncio.Future[None]:
        """Done when the client has disconnected."""
        if self._gone is None:
            self._gone = asyncio.get_running_loop().create_future()
            if self.gone:
                self._gone.set_result(None)
        return self._gone

    # The response.

    def answer(
        self,
        status: int,
        body: bytes = b"",
        kind: bytes = JSON,
        headers: Iterable[Header] = (),
        *,
        close: bool = False,
    ) -> None:
        """Send a complete response. `close` ends the connection too; a client that disconnected gets
        nothing."""
        if self.started:
            raise RuntimeError("a request is answered once")
        self.started = self.answered = True
        self.on_gone = None
        if close:
            self.keep_alive = False
        if not self.gone:
            head = b"HTTP/1.1 %b\r\n%bcontent-length: %d\r\n%b\r\n" % (
                _STATUS[status],
                # Without a body there is no type: clients parse whatever is declared as JSON.
                b"content-type: %b\r\n" % kind if body else b"",
                len(body),
                self._header_lines(headers) if headers or not self.keep_alive else b"",
            )
            self.connection.write(head if self.method == "HEAD" else head + body)
        self.connection.answered(self)

    async def answer_large(
        self, status: int, body: bytes, kind: bytes = JSON, headers: Iterable[Header] = ()
    ) -> None:
        """Send a complete response, as fast as the client reads it."""
        length = (b"content-length", str(len(body)).encode())
        self.open_stream(((b"content-type", kind), length, *headers), status, sized=True)
        await self.send(body)
        self.end_stream()

    def say(self, status: int, text: str, *headers: Header, close: bool = False) -> None:
        """Respond with plain text."""
        self.answer(status, text.encode(), TEXT, headers, close=close)

    def give(self, value: dict[str, object]) -> None:
        """Respond with JSON that is no MCP message."""
        self.answer(200, encode(value))

    def open_stream(self, headers: Iterable[Header], status: int = 200, *, sized: bool = False) -> None:
        """Begin a response of many parts; `sized` when the headers give its length, or it has no body."""
        self.started = True
        if self.head.http10:
            self.keep_alive = False
        self._chunked = not (self.head.http10 or sized)
        coding = b"transfer-encoding: chunked\r\n" if self._chunked else b""
        if not self.gone:
            self.connection.write(
                b"HTTP/1.1 %b\r\n%b%b\r\n" % (_STATUS[status], self._header_lines(headers), coding)
            )

    async def send(self, part: bytes) -> None:
        """Send one part; waits while the client does not read, and does nothing after it disconnected."""
        if len(part) > PIECE:
            for start in range(0, len(part), PIECE):
                await self.send(part[start : start + PIECE])
        elif not self.gone:
            self.connection.write(b"%x\r\n%b\r\n" % (len(part), part) if self._chunked else part)
            await self.connection.drained()

    def end_stream(self) -> None:
        self.answered = True
        self.on_gone = None
        if self._chunked and not self.gone:
            self.connection.write(b"0\r\n\r\n")
        self.connection.answered(self)

    def cancel(self) -> None:
        """Stop making the response."""
        if self.task is not None:
            self.task.cancel()

    def fail(self) -> None:
        """Respond with an internal error, or disconnect if another response has begun."""
        if self.started:
            self.connection.abort()
        else:
            self.say(500, "Internal Server Error", close=True)

    def _header_lines(self, headers: Iterable[Header]) -> bytes:
        lines = b"".join(b"%b: %b\r\n" % header for header in headers) if headers else b""
        return lines if self.keep_alive else lines + b"connection: close\r\n"


def answer_refusal(
    request: HttpRequest, status: int, refusal: Refusal, request_id: Any = None, *headers: Header
) -> None:
    """Respond with a JSON-RPC error and this HTTP status."""
    request.answer(status, encode(refuse(request_id, refusal)), JSON, headers)


def answer_busy(request: HttpRequest, status: int, text: str, after: int, request_id: Any = None) -> None:
    """Refuse for now; the client may retry after so many seconds."""
    refusal = Refusal(BUSY, text, {"retryAfterMs": after * 1000})
    answer_refusal(request, status, refusal, request_id, (b"retry-after", str(after).encode()))


def answer_unauthorised(request: HttpRequest) -> None:
    """The same whether the token is missing, wrong or of another endpoint."""
    request.say(401, "A bearer token is needed.", (b"www-authenticate", b'Bearer realm="toolcrib"'))

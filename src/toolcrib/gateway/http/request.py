"""One request over HTTP, and its answer: whole and in one packet, or a stream as fast as the client reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from toolcrib.serverkit.encoding import encode

if TYPE_CHECKING:
    from toolcrib.gateway.http.admitted import Standing
    from toolcrib.gateway.http.heads import Head

Header = tuple[bytes, bytes]
JSON = b"application/json"
TEXT = b"text/plain; charset=utf-8"

_STATUS = {status.value: f"{status.value} {status.phrase}".encode() for status in HTTPStatus}
SINGLE = frozenset({"host", "origin", "authorization", "mcp-session-id", "content-length"})
"""Headers that decide something; given twice, they would say two things."""
_MOST_NAMES = 500
NAMES: dict[bytes, str] = {}
"""Names of headers as they came, and as we write them; there are few."""


class Carrier(Protocol):
    """The connection that a request came by."""

    @property
    def write(self) -> Callable[[bytes], None]:
        """Sends this."""

    async def drained(self) -> None:
        """Wait until the client has read so much that more can be sent."""

    def answered(self, request: HttpRequest) -> None:
        """The answer is complete; without `keep_alive` the connection ends with it."""

    @property
    def remind(self) -> Callable[[float, Callable[[], object]], None]:
        """Does this after so many seconds, unless the request that is being answered is answered before."""

    def abort(self) -> None:
        """Hang up at once."""


class HttpRequest:
    """What a client wants. The connection fills it while it arrives; the application answers it once.

    What holds for most of them stands in the class: one is made for every call.
    """

    method = path = ""
    target = b""
    """What stands in the request's first line: the path as it was written, and what follows it."""
    headers: Mapping[str, str] = MappingProxyType({})
    """By name in small letters. Requests of one connection may share them."""
    head: Head | None = None
    """Shared by all requests of one connection that begin so, where one is kept of them."""
    body = b""
    """What has arrived, once all of it has."""
    contradictory = False
    """A header that decides something stands twice."""
    expects = False
    """The client waits for our word before it sends the body."""
    keep_alive = True
    old = False
    """HTTP/1.0, which knows no chunks."""
    whole = too_large = False
    met = taken = False
    """The application has seen its head; has got it."""
    started = answered = False
    gone = False
    """The client hung up."""
    on_gone: Callable[[], object] | None = None
    standing: Standing | None = None
    """What the gateway knows of it, once it was let in there."""
    task: asyncio.Task[None] | None = None
    """Makes the answer, where one has to be waited for."""
    _parts: list[bytes] | None = None
    _size = 0
    _chunked = False
    _gone: asyncio.Future[None] | None = None

    def __init__(self, carrier: Carrier, reached: str | None) -> None:
        self._carrier = carrier
        self.reached = reached
        """Our own address that the connection came to."""

    # While it arrives.

    def add_body(self, part: bytes, most: int) -> None:
        """One more piece; nothing is kept of a body of more than so many bytes."""
        self._size += len(part)
        if self._size > most:
            self.too_large = True
            self._parts = None
        elif not self.answered:
            self._parts = self._parts or []
            self._parts.append(part)

    def complete(self) -> None:
        """That was all of it."""
        self.whole = True
        self.body = b"".join(self._parts or ())
        self._parts = None

    def lose(self) -> None:
        """The client hung up."""
        self.gone = True
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        if self.on_gone is not None:
            self.on_gone()

    def hung_up(self) -> asyncio.Future[None]:
        """Done when the client has hung up."""
        if self._gone is None:
            self._gone = asyncio.get_running_loop().create_future()
            if self.gone:
                self._gone.set_result(None)
        return self._gone

    # The answer.

    def answer(
        self,
        status: int,
        body: bytes = b"",
        kind: bytes = JSON,
        headers: Iterable[Header] = (),
        *,
        close: bool = False,
    ) -> None:
        """The whole of it. `close` ends the connection too; nothing is sent to a client that hung up."""
        if self.started:
            raise RuntimeError("a request is answered once")
        self.started = self.answered = True
        self.on_gone = None
        if close:
            self.keep_alive = False
        if not self.gone:
            head = b"HTTP/1.1 %b\r\n%bcontent-length: %d\r\n%b\r\n" % (
                _STATUS[status],
                # Nothing is of no kind: clients read what calls itself JSON.
                b"content-type: %b\r\n" % kind if body else b"",
                len(body),
                self._lines(headers) if headers or not self.keep_alive else b"",
            )
            self._carrier.write(head if self.method == "HEAD" else head + body)
        self._carrier.answered(self)

    def say(self, status: int, text: str, *headers: Header, close: bool = False) -> None:
        """Answer with a sentence for a person."""
        self.answer(status, text.encode(), TEXT, headers, close=close)

    def give(self, value: dict[str, object]) -> None:
        """Answer with something for a program that is no MCP client."""
        self.answer(200, encode(value))

    def open_stream(self, headers: Iterable[Header], status: int = 200, *, sized: bool = False) -> None:
        """Begin an answer of many parts; `sized` when the headers tell its length, or it has no body."""
        self.started = True
        if self.old:
            self.keep_alive = False
        self._chunked = not (self.old or sized)
        coding = b"transfer-encoding: chunked\r\n" if self._chunked else b""
        if not self.gone:
            self._carrier.write(b"HTTP/1.1 %b\r\n%b%b\r\n" % (_STATUS[status], self._lines(headers), coding))

    async def send(self, part: bytes) -> None:
        """One part; waits while the client does not read, and drops it when nobody reads any more."""
        if not self.gone:
            self._carrier.write(b"%x\r\n%b\r\n" % (len(part), part) if self._chunked else part)
            await self._carrier.drained()

    def end_stream(self) -> None:
        """There are no more parts."""
        self.answered = True
        self.on_gone = None
        if self._chunked and not self.gone:
            self._carrier.write(b"0\r\n\r\n")
        self._carrier.answered(self)

    def cancel(self) -> None:
        """Make no answer any more."""
        if self.task is not None:
            self.task.cancel()

    def ended(self, tasks: set[asyncio.Task[None]]) -> None:
        """Its task, one of these, has nothing more to do."""
        if self.task is not None:
            tasks.discard(self.task)
            self.task = None  # whose context leads back here: a cycle that only the collector would undo

    def remind(self, seconds: float, action: Callable[[], object]) -> None:
        """Do this after so many seconds, unless the request is answered before."""
        if not self.gone:
            self._carrier.remind(seconds, action)

    def fail(self) -> None:
        """Something went wrong on our side: say so, or hang up where half of something else was said."""
        if self.started:
            self._carrier.abort()
        else:
            self.say(500, "Internal Server Error", close=True)

    def _lines(self, headers: Iterable[Header]) -> bytes:
        lines = b"".join(b"%b: %b\r\n" % header for header in headers) if headers else b""
        return lines if self.keep_alive else lines + b"connection: close\r\n"


def header_name(name: bytes) -> str:
    """The name of a header as we write it."""
    known = name.decode("latin-1").lower()
    if len(NAMES) < _MOST_NAMES and len(name) <= 100:
        NAMES[name] = known
    return known

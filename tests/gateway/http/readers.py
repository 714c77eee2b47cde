"""Reads a stream of HTTP requests with our connection, with h11 and with llhttp, into the same form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import h11
import httptools

from toolcrib.config.settings import GatewaySettings
from toolcrib.gateway.http.address import HeaderCheck
from toolcrib.gateway.http.connection import HttpConnection
from toolcrib.gateway.http.request import HttpRequest
from toolcrib.gateway.http.sessions import Load


@dataclass(frozen=True)
class Message:
    """A request as a reader understood it. Of a header that is there twice, the last one counts."""

    method: bytes
    target: bytes
    headers: dict[str, str]
    body: bytes


@dataclass
class Reading:
    """The requests in their order, and whether something was refused."""

    messages: list[Message] = field(default_factory=list)
    refused: bool = False


class Wire:
    """The transport of a connection, in memory; answers are counted, not sent."""

    def __init__(self) -> None:
        self.closed = False
        self.sent: list[bytes] = []

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1)

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def is_closing(self) -> bool:
        return False

    def write_eof(self) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True

    abort = close

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading

    def get_write_buffer_size(self) -> int:
        return 0


class Recorder:
    """An application that answers every request that the guard lets in."""

    def __init__(self) -> None:
        self.reading = Reading()
        self._guard = HeaderCheck()

    def check_head(self, request: HttpRequest) -> None:
        refusal = self._guard.refusal(request.headers, request.reached)
        if refusal is not None:
            request.say(*refusal, close=True)

    def handle(self, request: HttpRequest) -> None:
        headers = {name: value.strip(" \t") for name, value in request.headers.items()}
        if "transfer-encoding" in headers:
            headers["transfer-encoding"] = "chunked"  # as h11 writes it
        message = Message(request.method.encode(), request.target, headers, request.body)
        self.reading.messages.append(message)
        request.answer(200)


def read_ours(pieces: Iterable[bytes], limits: GatewaySettings | None = None) -> Reading:
    """With our connection; has to run in an event loop."""
    recorder, wire = Recorder(), Wire()
    connection = HttpConnection(recorder, Load(limits or GatewaySettings()), set())
    connection.connection_made(wire)  # type: ignore[arg-type]
    for piece in pieces:
        if wire.closed:
            break
        connection.data_received(piece)
    recorder.reading.refused = any(
        not data.startswith((b"HTTP/1.1 200", b"HTTP/1.1 100")) for data in wire.sent
    )
    connection.connection_lost(None)
    return recorder.reading


def read_h11(data: bytes) -> Reading:
    """With h11, which is written in Python from the standard's grammar.

    It refuses empty lines before a request, which RFC 9112 (2.2) asks servers to ignore; they are removed.
    """
    reading = Reading()
    while data := data.lstrip(b"\r\n"):
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 22)
        parser.receive_data(data)
        try:
            message = _next_message(parser)
        except h11.RemoteProtocolError:
            reading.refused = True
            break
        if message is None:
            break
        reading.messages.append(message)
        parser.send(h11.Response(status_code=404, headers=[("content-length", "0")]))
        parser.send(h11.EndOfMessage())
        if parser.their_state is not h11.DONE:
            break  # the connection ends with this one
        data, _ = parser.trailing_data
    return reading


def _next_message(parser: h11.Connection) -> Message | None:
    """None while there is no whole one."""
    head, body = parser.next_event(), b""
    if not isinstance(head, h11.Request):
        return None
    while isinstance(event := parser.next_event(), h11.Data):
        body += event.data
    if not isinstance(event, h11.EndOfMessage):
        return None
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
    return Message(head.method, head.target, headers, body)


class _Collector:
    """The callbacks of an llhttp parser."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.parser: Any = httptools.HttpRequestParser(self)

    def on_message_begin(self) -> None:
        self._target, self._body = b"", b""
        self._headers: dict[str, str] = {}
        self._in_head = True

    def on_url(self, url: bytes) -> None:
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            known, text = name.decode("latin-1").lower(), value.decode("latin-1").strip(" \t")
            self._headers[known] = text.lower() if known == "transfer-encoding" else text

    def on_headers_complete(self) -> None:
        self._in_head = False

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        method = self.parser.get_method()
        self.messages.append(Message(method, self._target, self._headers, self._body))


def read_llhttp(data: bytes) -> Reading:
    """With llhttp, the parser of Node, and nothing around it."""
    collector, refused = _Collector(), False
    try:
        collector.parser.feed_data(data)
    except httptools.HttpParserError:
        refused = True
    except httptools.HttpParserUpgrade:
        pass
    return Reading(collector.messages, refused)

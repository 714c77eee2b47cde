"""HTTP as light as it gets: one kept connection, one request at a time, parsed in C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import cast
from urllib.parse import SplitResult, urlsplit

import httptools


@dataclass
class Response:
    """A response, as far as it has come."""

    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""


class Connection(asyncio.Protocol):
    """One connection to a server."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Response] | None = None
        self._listener: Callable[[bytes], None] | None = None
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._response = Response()
        self._parts: list[bytes] = []

    @property
    def is_closed(self) -> bool:
        """True when no request can be sent any more; servers hang up on those who are silent for long."""
        return self._transport is None or self._transport.is_closing()

    async def request(self, data: bytes, listener: Callable[[bytes], None] | None = None) -> Response:
        """Send a whole request. The body goes to the listener, if there is one, and then only the head comes
        back; else the response is whole."""
        assert self._transport is not None
        self._begin()
        self._listener = listener
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(data)
        return await self._waiting

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    # The transport calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._settle(ConnectionError(f"not HTTP: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._settle(ConnectionError("the connection was closed"))

    # The parser calls these.

    def on_header(self, name: bytes, value: bytes) -> None:
        self._response.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._response.status = self._parser.get_status_code()
        if self._listener is not None:
            self._settle(self._response)

    def on_body(self, body: bytes) -> None:
        if self._listener is not None:
            self._listener(body)
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        self._response.body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._settle(self._response)

    def _settle(self, outcome: Response | Exception) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None or waiting.done():
            return
        if isinstance(outcome, Exception):
            waiting.set_exception(outcome)
        else:
            waiting.set_result(outcome)


class Pool:
    """As many connections to one server as requests are under way."""

    def __init__(self, url: str) -> None:
        self.address: SplitResult = urlsplit(url)
        self._free: list[Connection] = []
        self._all: list[Connection] = []

    async def __aenter__(self) -> Pool:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._all:
            connection.close()

    async def open(self) -> Connection:
        """A new connection."""
        loop = asyncio.get_running_loop()
        host, port = self.address.hostname or "", self.address.port or 80
        _, connection = await loop.create_connection(Connection, host, port)
        self._all.append(connection)
        return connection

    async def request(self, data: bytes) -> Response:
        """Send a whole request on a free connection. One that fails, or is given up, is not used again."""
        self._free = [connection for connection in self._free if not connection.is_closed]
        connection = self._free.pop() if self._free else await self.open()
        try:
            response = await connection.request(data)
        except (ConnectionError, asyncio.CancelledError):
            connection.close()
            raise
        if response.headers.get(b"connection", b"").lower() == b"close":
            connection.close()
        else:
            self._free.append(connection)
        return response

    def head(self, method: str, path: str, headers: dict[str, str], length: int | None) -> bytes:
        """The head of a request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.address.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if length is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {length}"]
        return "\r\n".join([*lines, "", ""]).encode()

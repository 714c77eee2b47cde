"""The HTTP connections themselves: a request must arrive whole in time, its head must be small, its answer
must be taken, and only so many connections may be open.

The server below reads whatever comes for as long as it comes, and waits for ever for a client that does not
read; here is where a client that sends a byte a minute, or headers without end, is turned away.
"""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.gateway.http.gathering import Gathering
from toolcrib.gateway.http.load import Load

MAX_HEAD = 64 * 1024
_REASONS = {408: "Request Timeout", 431: "Request Header Fields Too Large", 503: "Service Unavailable"}


def bounded_protocol(load: Load) -> type[Any]:
    """The server's protocol, with bounds; reads the limits of `load` as they are when they are needed."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Bounded(HttpToolsProtocol):
        """One connection."""

        _due: asyncio.TimerHandle | None = None
        _unread: asyncio.TimerHandle | None = None
        _in_head = True
        _head = 0

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(Gathering(transport, self.loop))  # type: ignore[arg-type]
            if len(self.connections) > load.most_connections:
                self._turn_away(503, "Too many connections are open; try again later.")
            else:
                self._arm()

        def connection_lost(self, exc: Exception | None) -> None:
            self._disarm()
            self._unwatch()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            if self._due is None and (self.cycle is None or self.cycle.response_complete):
                self._arm()
            self._head += len(data)
            super().data_received(data)
            if self._in_head and self._head > MAX_HEAD and not self.transport.is_closing():
                self._turn_away(431, f"The head of a request may have {MAX_HEAD} bytes.")

        def on_headers_complete(self) -> None:
            self._in_head = False
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._in_head, self._head = True, 0
            self._disarm()
            super().on_message_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch()

        def resume_writing(self) -> None:
            self._unwatch()
            super().resume_writing()

        def _watch(self) -> None:
            left = self.transport.get_write_buffer_size()
            self._unread = self.loop.call_later(load.limits.request_timeout, self._look, left)

        def _unwatch(self) -> None:
            if self._unread is not None:
                self._unread.cancel()
                self._unread = None

        def _look(self, before: int) -> None:
            """A slow reader may go on; one that took nothing since the last look is gone."""
            if self.transport.get_write_buffer_size() < before:
                self._watch()
            else:
                self.transport.abort()

        def _arm(self) -> None:
            self._due = self.loop.call_later(load.limits.request_timeout, self._too_late)

        def _disarm(self) -> None:
            if self._due is not None:
                self._due.cancel()
                self._due = None

        def _too_late(self) -> None:
            self._due = None
            self._turn_away(408, "The request did not arrive in time.")

        def _turn_away(self, status: int, text: str) -> None:
            """Close the connection, and say why where nothing else is being said on it."""
            self._disarm()
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
                self.transport.write(_answer(status, text))
            self.transport.close()

    return Bounded


def _answer(status: int, text: str) -> bytes:
    body = text.encode()
    head = [
        f"HTTP/1.1 {status} {_REASONS[status]}",
        "content-type: text/plain; charset=utf-8",
        f"content-length: {len(body)}",
        "retry-after: 1",
        "connection: close",
    ]
    return "\r\n".join([*head, "", ""]).encode() + body

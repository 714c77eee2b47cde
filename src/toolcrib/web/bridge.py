"""Lets an ASGI application answer requests that arrive at the gateway's address.

The gateway's own protocol reads the requests, within its limits; here each becomes one task that runs the
application. Who hangs up cancels what was done for them, who reads slowly is waited for, and only so many
requests are under way at once. The application is made when the first request comes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from toolcrib.gateway.http.request import Header, HttpRequest

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_REQUESTS = 256
"""Of all pages together, streams included."""
_BODILESS = (204, 304)


class Doorkeeper(Protocol):
    """Refuses requests by their heads."""

    def meet(self, request: HttpRequest) -> None:
        """Answer it now when it is refused; else leave it alone."""


class AsgiBeside:
    """What stands beside the gateway: `make` builds the application, `on_end` ends its endless streams."""

    def __init__(
        self, make: Callable[[], AsgiApplication], door: Doorkeeper, on_end: Callable[[], object]
    ) -> None:
        self._make = make
        self._door = door
        self._on_end = on_end
        self._application: AsgiApplication | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = False

    def meet(self, request: HttpRequest) -> None:
        """Refuse what may not come in, before its body has arrived."""
        if self._ending or len(self._tasks) >= MOST_REQUESTS:
            request.say(503, "Too much is under way; try again shortly.", (b"retry-after", b"1"))
        else:
            self._door.meet(request)

    def take(self, request: HttpRequest) -> None:
        """Run the application for it."""
        if self._application is None:
            self._application = self._make()
        task = asyncio.create_task(_Run(request).through(self._application), name="page request")
        request.task = task
        request.on_gone = request.cancel
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end(self) -> None:
        """Take nothing new; streams that would go on for ever end."""
        self._ending = True
        self._on_end()

    async def close(self, patience: float) -> None:
        """Let the rest finish for so many seconds, then cancel it."""
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=patience)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class _Run:
    """One request through the application."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._received = False
        self._status = 0
        self._headers: list[Header] = []

    async def through(self, application: AsgiApplication) -> None:
        request = self._request
        try:
            await application(scope_of(request), self._receive, self._send)
        except Exception:  # the edge of a surface
            logger.exception("a page's request could not be answered")
            if not request.answered:
                request.fail()
            return
        if not request.answered:
            logger.error("a page's request was not answered", extra={"path": request.path})
            request.fail()

    async def _receive(self) -> Message:
        if not self._received:
            self._received = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await self._request.hung_up()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        request = self._request
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body" and not request.answered:
            await self._pass(message.get("body", b""), more=message.get("more_body", False))

    async def _pass(self, body: bytes, *, more: bool) -> None:
        request = self._request
        bodiless = request.method == "HEAD" or self._status in _BODILESS
        if not request.started:
            if not more and not bodiless:
                kind, others = _parted(self._headers)
                request.answer(self._status, body, kind, others)
                return
            sized = bodiless or any(name == b"content-length" for name, _ in self._headers)
            request.open_stream(self._headers, self._status, sized=sized)
        if body and not bodiless:
            await request.send(body)
        if not more:
            request.end_stream()


def scope_of(request: HttpRequest) -> dict[str, Any]:
    """A request as ASGI applications know it."""
    path, _, query = request.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.0" if request.old else "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.path,
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.items()
        ],
        "client": None,
        "server": None,
    }


def _parted(headers: list[Header]) -> tuple[bytes, list[Header]]:
    """The content type, and the headers that are not told anyway."""
    kind, others = b"application/octet-stream", []
    for name, value in headers:
        if name == b"content-type":
            kind = value
        elif name != b"content-length":
            others.append((name, value))
    return kind, others

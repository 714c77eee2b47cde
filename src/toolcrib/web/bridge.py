"""Runs an ASGI application on the gateway's HTTP server: how many requests at once, and what happens when a
browser disconnects.

The gateway's own protocol reads the requests, within its limits; here each becomes one task that runs the
application. A disconnect cancels the task, a slow reader slows its own task down, and the number of
concurrent requests is limited. The application is created on the first request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from toolcrib.gateway.http.request import Header, HttpRequest
from toolcrib.web.feature_routes import path_for_logs

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_REQUESTS = 256
"""Concurrent requests of all pages, streams included."""
_BODILESS = (204, 304)


class AsgiBridge:
    """Serves what the gateway does not: `make` builds the application, `on_end` ends its open streams.

    `refuse` answers a request whose headers are refused, and does nothing to others.
    """

    def __init__(
        self,
        make: Callable[[], AsgiApplication],
        refuse: Callable[[HttpRequest], None],
        on_end: Callable[[], object],
    ) -> None:
        self._make = make
        self._refuse = refuse
        self._on_end = on_end
        self._application: AsgiApplication | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = False

    def check_head(self, request: HttpRequest) -> None:
        """Refuse a request before its body arrives."""
        if self._ending or len(self._tasks) >= MAX_REQUESTS:
            request.say(503, "Too many requests; try again shortly.", (b"retry-after", b"1"))
        else:
            self._refuse(request)

    def handle(self, request: HttpRequest) -> None:
        """Run the application for a request."""
        if self._application is None:
            self._application = self._make()
        task = asyncio.create_task(_Run(request).through(self._application), name="page request")
        request.task = task
        request.on_gone = request.cancel
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def end(self) -> None:
        """Accept no more requests, and end open streams."""
        self._ending = True
        self._on_end()

    async def close(self, patience: float) -> None:
        """Wait `patience` seconds for running requests, then cancel them."""
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
            logger.exception("page request failed")
            if not request.answered:
                request.fail()
            return
        if not request.answered:
            logger.error("page request was not answered", extra={"path": path_for_logs(request.path)})
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
                kind, others = _split_content_type(self._headers)
                request.answer(self._status, body, kind, others)
                return
            sized = bodiless or any(name == b"content-length" for name, _ in self._headers)
            request.open_stream(self._headers, self._status, sized=sized)
        if body and not bodiless:
            await request.send(body)
        if not more:
            request.end_stream()


def scope_of(request: HttpRequest) -> dict[str, Any]:
    """The ASGI scope of a request."""
    path, _, query = request.target.partition(b"?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.0" if request.head.http10 else "1.1",
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


def _split_content_type(headers: list[Header]) -> tuple[bytes, list[Header]]:
    """The content type, and the other headers; the server adds the content length."""
    kind, others = b"application/octet-stream", []
    for name, value in headers:
        if name == b"content-type":
            kind = value
        elif name != b"content-length":
            others.append((name, value))
    return kind, others

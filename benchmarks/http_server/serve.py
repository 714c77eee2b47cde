"""The same gateway behind one of two HTTP servers, until a signal.

python -m benchmarks.http_server.serve own|uvicorn --home FOLDER --port PORT

Both run the same application on the same event loop, with one task a request. Behind uvicorn the application
is an ASGI app of as few steps as possible: no framework, no middleware, no access log, no default headers.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
import uvloop

from toolcrib.gateway.bridge import bridge_handlers
from toolcrib.gateway.http.address import HeaderCheck
from toolcrib.gateway.http.endpoints import ProfileEndpoints
from toolcrib.gateway.http.parser import Head
from toolcrib.gateway.http.request import JSON, Header, HttpRequest
from toolcrib.gateway.http.server import HttpApplication, serve_http
from toolcrib.gateway.profile import offer_all
from toolcrib.host import Host, open_host

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]


class AsgiRequest(HttpRequest):
    """A request whose answer is kept until uvicorn's task sends it."""

    status = 0
    answer_headers: list[Header]
    answer_body = b""

    def answer(
        self,
        status: int,
        body: bytes = b"",
        kind: bytes = JSON,
        headers: Iterable[Header] = (),
        *,
        close: bool = False,
    ) -> None:
        self.started = self.answered = True
        self.status = status
        self.answer_headers = [
            (b"content-type", kind),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ]
        self.answer_body = body


class _NoTimers:
    """Instead of a connection: no response here takes long enough to become a stream."""

    def remind(self, seconds: float, action: Callable[[], object]) -> None:
        pass


class _NoTasks:
    """Instead of a loop: the work of a request runs in uvicorn's task."""

    def create_task(self, work: Coroutine[Any, Any, None], *, name: str) -> Coroutine[Any, Any, None]:
        return work


NO_TIMERS: Any = _NoTimers()
NO_TASKS: Any = _NoTasks()


class AsgiApplication(HttpApplication):
    """The gateway's application as an ASGI app; the work of a request runs in uvicorn's task."""

    def __init__(self, endpoints: ProfileEndpoints, guard: HeaderCheck) -> None:
        super().__init__(endpoints, guard)
        self._loop = NO_TASKS

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        request = await _read(scope, receive)
        self.check_head(request)
        if not request.answered:
            self.handle(request)
        if request.task is not None:
            await request.task
        start = {
            "type": "http.response.start",
            "status": request.status,
            "headers": request.answer_headers,
        }
        await send(start)
        await send({"type": "http.response.body", "body": request.answer_body})


async def _read(scope: Event, receive: Receive) -> AsgiRequest:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    head = Head(scope["method"], scope["raw_path"], headers)
    request = AsgiRequest(NO_TIMERS, head, "127.0.0.1")
    event = await receive()
    body = event["body"]
    while event.get("more_body"):
        event = await receive()
        body += event["body"]
    request.body = body
    return request


async def _serve_uvicorn(host: Host, port: int) -> None:
    endpoints = ProfileEndpoints(host, offer_all())
    config = uvicorn.Config(
        AsgiApplication(endpoints, HeaderCheck()),
        port=port,
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
    )
    async with endpoints.following():
        await uvicorn.Server(config).serve()


async def _serve_own(host: Host, port: int) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with serve_http(host, port=port):
        await ended.wait()


SERVERS = {"own": _serve_own, "uvicorn": _serve_uvicorn}


async def _main(server: str, home: Path, port: int) -> None:
    async with open_host(home, exclusive=True, handlers=bridge_handlers()) as host:
        host.lent = True
        await SERVERS[server](host, port)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server", choices=list(SERVERS))
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_main(options.server, options.home, options.port))

"""A website on loopback: pages by path, faults on request, and a log of what was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """One response; `dropped` ends the connection in the middle of the body."""

    body: bytes | str = b""
    media_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    dropped: bool = False


Page = Answer | str | bytes | Callable[[Asked], Answer]


class Website:
    """Pages that tests put there."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.endpoint = f"127.0.0.1:{server.server_address[1]}"
        self.url = f"http://{self.endpoint}"
        self.pages: dict[str, Page] = {}
        self.asked: list[Asked] = []

    def put(self, path: str, page: Page) -> str:
        """Serve a page; returns its address."""
        self.pages[path] = page
        return f"{self.url}{path}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.asked]

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        page = self.pages.get(asked.path, self.pages.get(asked.path.partition("?")[0]))
        if page is None:
            return Answer("not here", status=404)
        if callable(page):
            return page(asked)
        return page if isinstance(page, Answer) else Answer(page)


@contextmanager
def serving() -> Iterator[Website]:
    """Run a website until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def _respond(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            asked = Asked(self.command, self.path, dict(self.headers.items()), self.rfile.read(length))
            answer = website.answer(asked)
            body = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.media_type:
                self.send_header("Content-Type", answer.media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if answer.dropped else body)
            self.close_connection = self.close_connection or answer.dropped

        do_GET = do_POST = do_HEAD = _respond  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    website = Website(server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield website
    finally:
        server.shutdown()
        server.server_close()

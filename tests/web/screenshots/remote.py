"""Servers of the catalogue behind an address on loopback, which can want a sign-in or go away."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.web.screenshots.toolbox import create

MODERN = "2026-07-28"


class Remote:
    """One of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.signed_out = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        """Where it is, also when it is gone."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def start(self) -> None:
        """Listen."""
        self._thread.start()

    def go_away(self) -> None:
        """Refuse connections from now on."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to one message; None where none is due."""
        session = create([self.name]).session()
        return asyncio.run(session.respond(message, lambda _: None))


@contextmanager
def remote(name: str) -> Iterator[Remote]:
    """A server that answers while the block runs."""
    found = Remote(name)
    found.start()
    try:
        yield found
    finally:
        found.go_away()


def _handler(found: Remote) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if found.signed_out:
                self._send(401, b"", "WWW-Authenticate", "Bearer")
                return
            answer = found.answer(message)
            self._send(202 if answer is None else 200, b"" if answer is None else json.dumps(answer).encode())

        def do_GET(self) -> None:
            self._send(405 if self.path == "/mcp" else 404, b"")

        do_DELETE = do_GET  # noqa: N815 - the name is the library's

        def _send(self, status: int, body: bytes, *header: str) -> None:
            self.send_response(status)
            if header:
                self.send_header(header[0], header[1])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    return Handler

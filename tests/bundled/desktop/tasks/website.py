"""A website on loopback whose forms are kept, so that a task can be checked by what was sent."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class Website:
    """Serves `pages` by their names; what a page sends to `/sent/NAME` is kept under that name."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.received: dict[str, dict[str, list[str]]] = {}
        self.delays: dict[str, float] = {}
        """Seconds before these are answered."""
        self._closing = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = unquote(urlsplit(self.path).path.strip("/"))
                site._closing.wait(site.delays.get(name, 0.0))
                self._answer(site.pages.get(name), 200 if name in site.pages else 404)

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                fields = parse_qs(self.rfile.read(length).decode(), keep_blank_values=True)
                site.received[unquote(self.path.removeprefix("/sent/"))] = fields
                self._answer("<title>Received</title><p>Thank you")

            def _answer(self, html: str | None, status: int = 200) -> None:
                body = f"<!doctype html><meta charset=utf-8>{html or ''}".encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

"""A vendor on loopback that says what a test tells it to, in a thread of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.llm.wire import openai_chat
from tests.llm.wire.script import Call, Cut, Refuse, Say, call

MODEL = "studio:scripted"
DEADLINE = 60.0
Step = Say | Call | Cut | Refuse


@dataclass
class Vendor:
    """Takes one step for each request; after the last it repeats that one."""

    steps: list[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    pause: threading.Event | None = None
    """While this is set to an event, an answer waits for it after its first words."""
    pause_after: int = 2
    """The piece of the answer after which it waits."""
    address: str = ""
    models: list[dict[str, Any]] | None = None
    """What it lists; None if it has no list."""
    key: str = ""
    """Whoever has another is refused; empty if none is needed."""

    def say(self, *steps: Step) -> None:
        """What it does from now on."""
        self.steps = list(steps)
        self.requests.clear()

    @property
    def settings(self) -> dict[str, Any]:
        """For the `agent` section of the settings."""
        price = {"input": 1000.0, "output": 2000.0}
        return {"model": MODEL, "endpoints": {"studio": {"url": self.address}}, "prices": {MODEL: price}}

    def results(self) -> list[str]:
        """What it was told of tools, in the last request."""
        return [one.text for one in openai_chat.results(self.requests[-1])]


@contextmanager
def vendor(*steps: Step) -> Iterator[Vendor]:
    """A vendor that listens while the block runs."""
    found = Vendor(list(steps) or [Say("Hello.")])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(found))
    server.daemon_threads = True
    found.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, name="vendor", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        if found.pause is not None:
            found.pause.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(found: Vendor) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if self._is_stranger():
                return
            if found.models is None or not self.path.endswith("/models"):
                self._answer(404, b'{"error": {"message": "Not found"}}', {})
                return
            rows = [{"object": "model", **model} for model in found.models]
            self._answer(200, json.dumps({"object": "list", "data": rows}).encode(), {})

        def _is_stranger(self) -> bool:
            wrong = bool(found.key) and self.headers.get("Authorization") != f"Bearer {found.key}"
            if wrong:
                self._answer(401, b'{"error": {"message": "Incorrect API key."}}', {})
            return wrong

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self._is_stranger():
                return
            found.requests.append(body)
            step = found.steps[min(len(found.requests), len(found.steps)) - 1]
            if isinstance(step, Refuse):
                self._answer(step.status, json.dumps(openai_chat.refuse(step)).encode(), step.headers)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            written = openai_chat.write(step, len(found.requests))
            if isinstance(step, Cut):
                written = written[: len(written) // 2]
            self._stream(written)

        def _stream(self, written: list[bytes]) -> None:
            for number, piece in enumerate(written):
                try:
                    self.wfile.write(piece)
                    self.wfile.flush()
                except OSError:
                    return
                if number == found.pause_after and found.pause is not None:
                    found.pause.wait(DEADLINE)

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    return Handler


__all__ = ["DEADLINE", "MODEL", "Call", "Cut", "Refuse", "Say", "Vendor", "call", "vendor"]

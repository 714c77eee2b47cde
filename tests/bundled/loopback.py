"""A small HTTP service on loopback, with faults that a test can order for its next requests."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    """Without the query, and decoded."""
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any

    def one(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]


@dataclass(frozen=True)
class Answer:
    status: int = 200
    data: Any = None
    """JSON, or bytes sent unchanged."""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fault:
    """What happens instead of the answer, or after the request was carried out."""

    answer: Answer | None = None
    drop: bool = False
    """Reset the connection."""
    hold: bool = False
    """Answer only after `Service.release` is set."""
    after: bool = False
    """Carry the request out first."""


class Service(ThreadingHTTPServer):
    """Answers with `respond`; remembers every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Asked] = []
        self.release = threading.Event()
        self.holding = threading.Event()
        """Set once a request is held back."""
        self._faults: list[tuple[str, Fault]] = []
        self._lock = threading.RLock()

    def respond(self, asked: Asked) -> Answer:
        raise NotImplementedError

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def fail(self, route: str, *faults: Fault) -> None:
        """The next requests whose `METHOD /path` starts with this have these faults, one each."""
        self._faults += [(route, fault) for fault in faults]

    def made(self, route: str) -> list[Asked]:
        """The requests that start with this."""
        return [each for each in self.requests if f"{each.method} {each.path}".startswith(route)]

    def take(self, asked: Asked) -> tuple[Answer | None, Fault | None]:
        with self._lock:
            self.requests.append(asked)
            fault = self._next_fault(asked)
            if fault is None or fault.after or fault.hold:
                return self.respond(asked), fault
            return fault.answer, fault

    def _next_fault(self, asked: Asked) -> Fault | None:
        for at, (route, fault) in enumerate(self._faults):
            if f"{asked.method} {asked.path}".startswith(route):
                del self._faults[at]
                return fault
        return None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is not an error here."""


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        body: Any = raw
        if "json" in self.headers.get("content-type", ""):
            body = json.loads(raw)
        asked = Asked(
            self.command,
            unquote(parts.path),
            parse_qs(parts.query, keep_blank_values=True),
            {name.lower(): value for name, value in self.headers.items()},
            body,
        )
        answer, fault = self.server.take(asked)
        if fault is not None and fault.hold:
            self.server.holding.set()
            self.server.release.wait(60)
        if fault is not None and fault.drop:
            self._reset()
            return
        if fault is not None and fault.answer is not None:
            answer = fault.answer
        assert answer is not None
        self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815

    def _send(self, answer: Answer) -> None:
        data = answer.data
        content = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _reset(self) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""


@contextmanager
def served(service: Service) -> Iterator[Service]:
    """Serve while the block runs."""
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        service.release.set()
        service.shutdown()
        thread.join()
        service.server_close()

"""HTTP by hand: what no well-behaved client sends."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any

DEADLINE = 60.0


@dataclass(frozen=True)
class Raw:
    """An answer; `status` is 0 when the connection was closed without one."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def send(port: int, request: bytes) -> Raw:
    """Send these bytes and read until the other side closes, or the answer is whole."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as connection:
        connection.settimeout(DEADLINE)
        connection.sendall(request)
        received = b""
        while not _is_whole(received):
            part = connection.recv(65536)
            if not part:
                break
            received += part
    return _read(received)


def request(port: int, line: str, *headers: str, body: bytes = b"", host: str | None = None) -> Raw:
    """A request of this first line; the Host header is ours unless another is given."""
    lines = [f"{line} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return send(port, "\r\n".join([*lines, "", ""]).encode() + body)


def _is_whole(received: bytes) -> bool:
    head, border, body = received.partition(b"\r\n\r\n")
    if not border:
        return False
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(body) >= int(line.partition(b":")[2])
    return False


def _read(received: bytes) -> Raw:
    head, _, body = received.partition(b"\r\n\r\n")
    if not head:
        return Raw(0, {}, b"")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Raw(int(first.split()[1]), headers, body)

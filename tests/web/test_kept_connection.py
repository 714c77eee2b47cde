"""A connection that was used before carries a stream for as long as both sides want it."""

from __future__ import annotations

import socket

from tests.web.running import DEADLINE, Crib

HEARTBEAT = b":\n\n"


def test_a_stream_on_a_connection_that_was_idle_outlives_the_idle_time(crib: Crib) -> None:
    head = f"Host: 127.0.0.1:{crib.port}\r\nAuthorization: Bearer {crib.key}\r\n"
    body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_connection(("127.0.0.1", crib.port), timeout=DEADLINE) as wire:
        wire.sendall(f"POST /api/pages HTTP/1.1\r\n{head}{body}".encode())
        assert wire.recv(65536).startswith(b"HTTP/1.1 200 ")
        wire.sendall(f"GET /api/live HTTP/1.1\r\n{head}\r\n".encode())
        heard = b""
        while HEARTBEAT not in heard:
            part = wire.recv(65536)
            assert part, heard
            heard += part

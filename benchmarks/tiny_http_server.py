"""The same small server over streamable HTTP: one asyncio protocol, keep-alive, JSON answers.

python -m benchmarks.tiny_http_server     prints its address, serves until stdin ends
"""

from __future__ import annotations

import asyncio
import json
import sys

from benchmarks.tiny_server import reply_to

HEAD_END = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """Answers the requests of one connection, in order."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(HEAD_END)) >= 0:
            head = self._buffer[:end].lower()
            start = end + len(HEAD_END)
            length = _content_length(head)
            if len(self._buffer) < start + length:
                return
            body, self._buffer = self._buffer[start : start + length], self._buffer[start + length :]
            self._transport.write(_answer(head, body))


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    return 0


def _answer(head: bytes, body: bytes) -> bytes:
    if not head.startswith(b"post"):
        return b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
    reply = reply_to(json.loads(body))
    if reply is None:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        len(reply),
        reply,
    )


async def main() -> None:
    """Listen on a free port of this machine."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())

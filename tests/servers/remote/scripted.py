"""A web server whose every byte a test decides: faults that no framework would produce on purpose."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

DEADLINE = 60.0


@dataclass
class Call:
    """One request that reached the server."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message in the body."""
        return json.loads(self.body) if self.body else {}


class Reply:
    """The way back; a test says exactly what is written, or that nothing ever is."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def raw(self, data: bytes) -> None:
        """Write these bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def send(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A whole response; underscores in header names stand for dashes."""
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def json(self, value: Any, status: int = 200, **headers: str) -> None:
        """A JSON response."""
        await self.send(status, json.dumps(value).encode(), content_type="application/json", **headers)

    async def result(self, call: Call, result: Any, **headers: str) -> None:
        """The JSON-RPC result of this request, as a body."""
        await self.json({"jsonrpc": "2.0", "id": call.message["id"], "result": result}, **headers)

    async def stream(self, **headers: str) -> None:
        """Begin an event stream."""
        lines = ["HTTP/1.1 200 X", "content-type: text/event-stream", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def chunk(self, data: bytes) -> None:
        """One chunk of a stream."""
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def event(self, message: Any, **fields: str | int) -> None:
        """One event with a JSON message (none when empty) and these fields."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        lines.append(f"data: {json.dumps(message)}" if message else "data:")
        await self.chunk("\n".join(lines).encode() + b"\n\n")

    async def end(self) -> None:
        """The proper end of a stream."""
        await self.raw(b"0\r\n\r\n")

    def cut(self) -> None:
        """Break the connection."""
        self._writer.transport.abort()

    async def client_gone(self) -> None:
        """Wait until the client closes its side."""
        while await self._reader.read(1024):
            pass


Handler = Callable[[Call, Reply], Awaitable[None]]


@dataclass
class Scripted:
    """A running scripted server."""

    handler: Handler
    scheme: str = "http"
    port: int = 0
    calls: list[Call] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)
    _connections: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """The address of its MCP endpoint."""
        return f"{self.scheme}://127.0.0.1:{self.port}/mcp"

    @property
    def seen(self) -> list[str]:
        """What arrived: the JSON-RPC methods of POSTs, the HTTP method of the rest."""
        return [c.message.get("method", "reply") if c.method == "POST" else c.method for c in self.calls]

    async def until(self, condition: Callable[[list[str]], bool]) -> None:
        """Wait until what was seen satisfies the condition."""
        async with asyncio.timeout(DEADLINE):
            while not condition(self.seen):
                self._arrived.clear()
                await self._arrived.wait()

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, request after request."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        try:
            while True:
                call = await _read_call(reader)
                self.calls.append(call)
                self._arrived.set()
                await self.handler(call, Reply(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def hang_up(self) -> None:
        """Break every connection."""
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read_call(reader: asyncio.StreamReader) -> Call:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    assert len(headers) == len(lines), f"a header came twice: {lines}"
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Call(method, target, headers, body)


@asynccontextmanager
async def scripted(
    handler: Handler, *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Scripted]:
    """A server on loopback that treats every request with `handler`."""
    server = Scripted(handler, scheme="https" if tls else "http")
    listener = await asyncio.start_server(
        server.connection, "127.0.0.1", port, ssl=tls, limit=64 * 1024 * 1024
    )
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.hang_up()

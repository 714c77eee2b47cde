"""A light HTTP/1.1 client for MCP: one connection that is kept, answers as JSON or as a stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Message = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What came back to one request."""

    status: int
    headers: dict[str, str]
    messages: list[Message]


class Connection:
    """To the gateway; opened when it is needed, closed by hand."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path = str(parts.hostname), parts.port, parts.path
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, message: Message, headers: dict[str, str]) -> Answer:
        """Send a message and read everything that is said to it."""
        reader = await self.send("POST", json.dumps(message).encode(), headers)
        return await read_answer(reader)

    async def leave(self, headers: dict[str, str]) -> Answer:
        """End a session."""
        return await read_answer(await self.send("DELETE", b"", headers))

    async def send(self, verb: str, body: bytes, headers: dict[str, str]) -> asyncio.StreamReader:
        """Send a request and leave the answer to whoever reads it."""
        reader, writer = await self._open()
        lines = {
            "Host": f"{self._host}:{self._port}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"{verb} {self._path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        await writer.drain()
        return reader

    async def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            _, writer = self._streams
            self._streams = None
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and self._streams[0].at_eof():
            await self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        return self._streams


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    return int(head[0].split()[1]), {name.lower(): value.strip() for name, _, value in pairs}


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """A whole answer."""
    status, headers = await read_head(reader)
    if headers.get("transfer-encoding") == "chunked":
        body = b"".join([chunk async for chunk in chunks(reader)])
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    if headers.get("content-type", "").startswith("text/event-stream"):
        return Answer(status, headers, events(body))
    is_json = headers.get("content-type", "").startswith("application/json")
    return Answer(status, headers, [json.loads(body)] if is_json else [])


async def chunks(reader: asyncio.StreamReader):
    """The parts of a chunked body."""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)


def events(body: bytes) -> list[Message]:
    """The messages of an event stream."""
    return [
        json.loads(line.removeprefix("data: "))
        for line in body.decode().splitlines()
        if line.startswith("data: ")
    ]

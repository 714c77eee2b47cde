"""A small TCP load balancer: each connection goes to the next gateway that accepts it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Balancer:
    def __init__(self, urls: Sequence[str]) -> None:
        self._places = [(str(parts.hostname), parts.port or 80) for parts in map(urlsplit, urls)]
        self._turns = itertools.count()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            theirs, ours = await self._connect()
            await asyncio.wait(
                [asyncio.create_task(pass_on(reader, ours)), asyncio.create_task(pass_on(theirs, writer))],
                return_when=asyncio.FIRST_COMPLETED,
            )
            ours.close()
        writer.close()

    async def _connect(self) -> Streams:
        first = next(self._turns)
        for turn in range(first, first + len(self._places)):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(*self._places[turn % len(self._places)])
        raise ConnectionRefusedError("no gateway accepts connections")


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def balancing(*urls: str) -> AsyncIterator[str]:
    """The URL that spreads connections over these."""
    server = await asyncio.start_server(Balancer(urls).serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}{urlsplit(urls[0]).path}"
    finally:
        server.close()

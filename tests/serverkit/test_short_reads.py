"""What a remote server sends is parsed in short steps, whatever its shape."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest

from tests.loop_meter import LIMIT, LoopMeter
from toolcrib.serverkit.network.client import GuardedTransport
from toolcrib.serverkit.network.policy import NetworkPolicy
from toolcrib.servers.remote.client import RoutedTransport

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s0\r\n\r\n"
ANSWERS = {
    "informational responses": b"HTTP/1.1 103 E\r\n\r\n" * 16_000 + OK,
    "small chunks": CHUNKED % (b"4\r\naaaa\r\n" * 16_000),
}


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("shape", ANSWERS)
async def test_no_shape_of_a_response_holds_the_loop(shape: str, *, own: bool) -> None:
    async with answering(OK) as url:
        await _get(url, own=own)  # imports are no part of the measurement
    async with answering(ANSWERS[shape]) as url:
        with LoopMeter() as meter:
            response = await _get(url, own=own)
        assert response.status_code == 200
        assert meter.turn < LIMIT


async def _get(url: str, *, own: bool) -> httpx2.Response:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    transport = RoutedTransport(httpx2.URL(url), tls, sign_in=False) if own else _guarded(tls)
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
        return await client.get(url)


def _guarded(tls: ssl.SSLContext) -> GuardedTransport:
    return GuardedTransport(NetworkPolicy(ports=None, kinds=frozenset({"loopback"})), tls=tls)

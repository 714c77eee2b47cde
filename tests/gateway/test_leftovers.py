"""What an answered call leaves behind: nothing that only the collector of cycles could take away."""

from __future__ import annotations

import asyncio
import gc
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker
from toolcrib.gateway.bridge import RelayedCall
from toolcrib.gateway.http.request import HttpRequest

CALLS = 20


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.acceptance
async def test_an_answered_call_is_gone_at_once(serve, crib, patient, no_collector, era):
    crib.server("plain")
    async with serve() as (_, url), _client() as client:
        speaker = Speaker(client, url)
        await speaker.open()
        say = speaker.modern if era == "modern" else speaker.legacy
        for _ in range(CALLS):
            answer = await say("tools/call", name="plain__echo", arguments={"text": "x"})
            assert answer.json()["result"]["content"][0]["text"] == "x"
        assert _count(HttpRequest) < CALLS / 2  # a connection has its last one at hand
        assert _count(RelayedCall) < CALLS / 2


@pytest.mark.acceptance
async def test_a_request_whose_client_hung_up_at_once_is_gone_too(serve, crib, patient):
    crib.server("plain")
    async with serve() as (_, url), _client() as client:
        call = {"name": "plain__echo", "arguments": {"text": "x"}}
        answered = await Speaker(client, url).modern("tools/call", **call)
        address, request = urlsplit(url), _as_sent(answered.request)
        for number in range(CALLS):
            _, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(request)
            (writer.transport.abort if number % 2 else writer.close)()
        del answered
        async with asyncio.timeout(DEADLINE):
            while _count(HttpRequest) > 1 or _count(RelayedCall) > 1:  # those of the call that was answered
                await asyncio.sleep(0.05)
                gc.collect()


def _as_sent(request: httpx2.Request) -> bytes:
    headers = [b"%b: %b" % header for header in request.headers.raw]
    return b"\r\n".join([b"POST %b HTTP/1.1" % request.url.raw_path, *headers, b"", request.content])


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE)


def _count(kind: type) -> int:
    return sum(type(thing) is kind for thing in gc.get_objects())

"""What an answered call leaves behind: nothing that only the collector of cycles could take away."""

from __future__ import annotations

import gc

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


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE)


def _count(kind: type) -> int:
    return sum(type(thing) is kind for thing in gc.get_objects())

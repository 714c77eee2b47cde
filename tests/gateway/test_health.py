"""`/healthz` tells clients how their servers are doing, and strangers nothing but that somebody answers."""

from __future__ import annotations

import httpx2
import pytest

from tests.gateway.speaking import DEADLINE
from toolcrib.config.tokens import hash_token, new_token
from toolcrib.gateway.profile import Profile


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        yield client


async def health(client, url: str, **headers: str):
    answer = await client.get(url.replace("/mcp", "/healthz"), headers=headers)
    assert answer.status_code == 200
    return answer.json()


async def test_servers_are_counted_by_state(serve, crib, client):
    crib.server("one")
    crib.server("two")
    crib.entry("absent", {"command": "/no/such/program"})
    async with serve() as (host, url):
        await host.ready()

        assert await health(client, url) == {"status": "ok", "servers": {"failed": 1, "ready": 2}}


async def test_a_profile_counts_only_what_it_shows(serve, crib, client):
    crib.server("one")
    crib.server("two")
    async with serve(Profile(servers=("one",))) as (host, url):
        await host.ready()

        assert (await health(client, url))["servers"] == {"ready": 1}


async def test_a_stranger_learns_nothing_but_that_somebody_answers(serve, crib, client):
    token = new_token()
    crib.setting(gateway={"tokenHash": hash_token(token)})
    crib.server("one")
    async with serve() as (host, url):
        await host.ready()

        assert await health(client, url) == {"status": "ok"}
        assert await health(client, url, Authorization="Bearer wrong") == {"status": "ok"}
        assert (await health(client, url, Authorization=f"Bearer {token}"))["servers"] == {"ready": 1}

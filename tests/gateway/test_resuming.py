"""A legacy client that was cut off in the middle of an answer comes back for the rest of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from toolcrib.gateway.http import sessions
from toolcrib.host import Host

DEADLINE = 60.0
JSON_FIRST = {"Accept": "application/json, text/event-stream"}
STREAM_FIRST = {"Accept": "text/event-stream, application/json"}


class OldClient:
    """Speaks 2025-11-25 by hand."""

    def __init__(self, host: Host, client: httpx2.AsyncClient, url: str) -> None:
        self.host = host
        self.client = client
        self.url = url
        self.session: dict[str, str] = {}

    async def open(self, version: str = "2025-11-25") -> None:
        params = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        response = await self.client.post(self.url, json=message, headers=JSON_FIRST)
        self.session = {"Mcp-Session-Id": response.headers["mcp-session-id"]}
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await self.client.post(self.url, json=ready, headers=JSON_FIRST | self.session)

    def call(self, number: int, tool: str, accept: dict[str, str], **arguments: object):
        """The response to a call, as a stream."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return self.client.stream("POST", self.url, json=message, headers=accept | self.session)

    def again(self, event_id: str):
        """The rest of a stream."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": event_id, **self.session}
        return self.client.stream("GET", self.url, headers=headers)


async def events(response: httpx2.Response) -> AsyncIterator[dict[str, str]]:
    """Each event of a stream, by its fields."""
    event: dict[str, str] = {}
    async for line in response.aiter_lines():
        if not line and event:
            yield event
            event = {}
        elif line and not line.startswith(":"):
            field, _, value = line.partition(":")
            event[field] = value.removeprefix(" ")


@pytest.fixture
async def old(serve, crib) -> AsyncIterator[OldClient]:
    """A client of a gateway with one server."""
    crib.server("slow")
    async with (
        serve() as (host, url),
        httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client,
        asyncio.timeout(DEADLINE),
    ):
        await host.ready()
        yield OldClient(host, client, url)


async def test_the_rest_of_an_answer_is_there_for_a_client_that_was_cut_off(old):
    await old.open()
    async with old.call(1, "slow__sleep", STREAM_FIRST, seconds=1) as response:
        first = await anext(events(response))
        assert first["data"] == ""
        assert first["retry"] == "1000"
    async with old.again(first["id"]) as rest:
        (answer,) = [json.loads(event["data"]) async for event in events(rest)]
    assert answer["id"] == 1
    assert "result" in answer


async def test_an_answer_that_came_meanwhile_can_be_asked_for_more_than_once(old):
    await old.open()
    async with old.call(1, "slow__echo", STREAM_FIRST, text="x") as response:
        opening, answer = [event async for event in events(response)]
    for _ in range(2):
        async with old.again(opening["id"]) as rest:
            assert [event async for event in events(rest)] == [answer]
    async with old.again(answer["id"]) as rest:
        assert [event async for event in events(rest)] == []


async def test_an_answer_that_takes_long_becomes_a_stream_that_can_be_resumed(old):
    await old.open()
    async with old.call(1, "slow__sleep", JSON_FIRST, seconds=4) as response:
        assert response.headers["content-type"] == "text/event-stream"
        first = await anext(events(response))
    async with old.again(first["id"]) as rest:
        assert len([event async for event in events(rest)]) == 1


async def test_a_quick_answer_to_a_client_that_names_json_first_is_plain_json(old, monkeypatch):
    monkeypatch.setattr(sessions, "STREAM_AFTER", DEADLINE)  # no answer is slow
    await old.open()
    async with old.call(1, "slow__echo", JSON_FIRST, text="x") as response:
        assert response.headers["content-type"] == "application/json"


async def test_older_clients_get_no_event_that_they_would_stumble_over(old):
    await old.open("2025-06-18")
    async with old.call(1, "slow__echo", STREAM_FIRST, text="x") as response:
        assert response.headers["content-type"] == "application/json"


async def test_the_stream_of_another_session_is_not_given_out(old):
    await old.open()
    async with old.call(1, "slow__echo", STREAM_FIRST, text="secret") as response:
        opening = await anext(events(response))
    stranger = OldClient(old.host, old.client, old.url)
    await stranger.open()
    async with stranger.again(opening["id"]) as response:
        old.host.tool(name="marker")(lambda: None)
        first = await anext(events(response))
    assert json.loads(first["data"])["method"] == "notifications/tools/list_changed"

"""A server that takes long to start: its known tools are listed, and calls of its tools wait for it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker, eventually
from toolcrib.errors import ServerNotReady
from toolcrib.gateway import gateway

HELD_BACK = """
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
os.execv(sys.executable, [sys.executable, "-m", "toolcrib.testing.server"])
"""


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


@pytest.fixture
def gate(crib, tmp_path: Path) -> Path:
    """A server called `slow` starts once this file exists."""
    file = tmp_path / "open"
    crib.entry("slow", {"command": sys.executable, "args": ["-c", HELD_BACK, str(file)]})
    return file


@pytest.fixture
async def known(gate: Path, crib) -> Path:
    """The server has run before, so its tools are stored; it is held back again."""
    gate.touch()
    async with crib.open() as host:
        await host.ready()
    gate.unlink()
    return gate


async def call(speaker: Speaker, tool: str = "slow__echo") -> httpx2.Response:
    return await speaker.modern("tools/call", name=tool, arguments={"text": "hello"})


async def test_the_first_list_holds_the_known_tools_of_a_server_that_is_starting(known, serve, client):
    async with serve() as (_, url):
        assert "slow__echo" in await Speaker(client, url).names()


async def test_a_call_of_a_known_tool_waits_for_its_server(known, serve, client):
    async with serve() as (host, url):
        speaker = Speaker(client, url)
        await speaker.names()
        calling = asyncio.ensure_future(call(speaker))
        await eventually(host.toolset.caller.under_way)
        known.touch()
        assert (await calling).json()["result"]["content"][0]["text"] == "hello"


async def test_a_call_of_an_unknown_tool_waits_for_its_server(gate, serve, client):
    async with serve() as (_, url):
        calling = asyncio.ensure_future(call(Speaker(client, url)))
        await asyncio.sleep(0)
        gate.touch()
        assert (await calling).json()["result"]["content"][0]["text"] == "hello"


async def test_a_client_that_lists_late_still_gets_a_server_that_was_never_listed(
    gate, serve, client, monkeypatch
):
    """The time for which a list waits counts from the first list on, not from the start of the gateway."""
    monkeypatch.setattr(gateway, "TOOLS_PATIENCE", 60.0)
    async with serve() as (_, url):
        asyncio.get_running_loop().call_later(0.2, gate.touch)
        assert "slow__echo" in await Speaker(client, url).names()


async def test_a_server_that_hangs_keeps_no_list_waiting_for_ever(gate, serve, client, monkeypatch):
    monkeypatch.setattr(gateway, "TOOLS_PATIENCE", 0.1)
    async with serve() as (_, url):
        names = await Speaker(client, url).names()
        assert not any(name.startswith("slow__") for name in names)


async def test_a_program_calls_a_tool_right_after_opening_the_host(gate, crib):
    async with crib.open() as host:
        calling = asyncio.ensure_future(host.call("slow__echo", {"text": "hello"}))
        await asyncio.sleep(0)
        gate.touch()
        assert (await calling)["content"][0]["text"] == "hello"


async def test_a_call_of_a_server_that_cannot_start_is_answered_with_what_to_do_and_recorded(
    crib, serve, client
):
    crib.entry("broken", {"command": "/no/such/program"})
    async with serve() as (host, url):
        await host.servers.settle()
        answer = await call(Speaker(client, url), "broken__echo")
        text = answer.json()["result"]["content"][0]["text"]
        assert "broken" in text
        assert "Try again shortly" not in text
        (record,) = await host.audit.query(1, server=None)
        assert (record.tool, record.outcome) == ("broken__echo", "unavailable")
        with pytest.raises(ServerNotReady):
            await host.call("broken__echo", {"text": "hello"})


async def test_a_call_that_is_given_up_while_its_server_starts_is_recorded(gate, serve, client):
    async with serve() as (host, url):
        calling = asyncio.ensure_future(call(Speaker(client, url)))
        waiting = host.toolset.caller.arrive
        arrived = asyncio.Event()

        async def arrive(name: str) -> None:
            arrived.set()
            await waiting(name)

        host.toolset.caller.arrive = arrive
        await arrived.wait()
        calling.cancel()
        async with asyncio.timeout(DEADLINE):
            while not (records := await host.audit.query(1, server=None)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert [(record.tool, record.outcome) for record in records] == [("slow__echo", "cancelled")]

"""The official client, in both eras, over HTTP and stdio: it sees one server and loses nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import DEADLINE, until_listed
from toolcrib.gateway.profile import Profile
from toolcrib.schema.servers import ServerState

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture(params=["http", "stdio"])
def connect(request, serve, crib):
    """Connects the client in a mode; yields it."""

    @asynccontextmanager
    async def over_http(mode, **options):
        async with serve() as (_, url), Client(streamable_http_client(url), mode=mode, **options) as client:
            yield client

    @asynccontextmanager
    async def over_stdio(mode, **options):
        crib.write()
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "toolcrib", "--home", str(crib.home), "serve", "--stdio"],
            env={"TOOLCRIB_KEYRING": "off", "TOOLCRIB_TRUST_CONFIG": "1"},
        )
        async with Client(stdio_client(command), mode=mode, **options) as client:
            yield client

    return over_http if request.param == "http" else over_stdio


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("back", ["legacy", "modern"])
async def test_every_pair_of_eras_lists_and_calls(connect, crib, mode, back):
    crib.server("back", args=("--era", back))
    async with connect(mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert client.server_info.name == "toolcrib"
        await until_listed(client, "back__echo")
        result = await client.call_tool("back__echo", {"text": "through"})
        assert (result.content[0].text, result.is_error) == ("through", False)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_cancelled_call_is_cancelled_in_the_server_behind(connect, crib, mode):
    crib.server("slow")
    async with connect(mode) as client:
        await until_listed(client, "slow__sleep")
        call = asyncio.create_task(client.call_tool("slow__sleep", {"seconds": 600}))
        async with asyncio.timeout(DEADLINE):
            asked = 1
            while int((await client.call_tool("slow__count", {})).content[0].text) == asked:
                asked += 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(DEADLINE):
            while (await client.call_tool("slow__cancelled", {})).content[0].text == "[]":
                pass


@pytest.mark.parametrize("mode", ERAS)
async def test_what_is_wrong_with_a_call_is_said(connect, crib, mode):
    crib.server("strict")
    async with connect(mode) as client:
        unknown = await client.call_tool("strict__nothing", {})
        assert unknown.is_error
        assert "Unknown tool" in unknown.content[0].text
        wrong = await client.call_tool("strict__echo", {"text": 7})
        assert wrong.is_error
        assert "text" in wrong.content[0].text


async def test_a_change_of_tools_reaches_a_legacy_client(connect, crib):
    crib.server("changing")
    told = asyncio.Event()

    async def on_message(message):
        if type(message).__name__ == "ToolListChangedNotification":
            told.set()

    async with connect("legacy", message_handler=on_message) as client:
        await client.list_tools()
        await client.call_tool("changing__change", {})
        async with asyncio.timeout(DEADLINE):
            await told.wait()
            while "changing__extra_0000" not in [tool.name for tool in (await client.list_tools()).tools]:
                pass


async def test_a_change_of_tools_reaches_a_modern_client_that_listens(connect, crib):
    crib.server("changing")
    async with connect("auto") as client, client.listen(tools_list_changed=True) as changes:
        await client.call_tool("changing__change", {})
        async with asyncio.timeout(DEADLINE):
            assert "ToolsListChanged" in type(await anext(aiter(changes))).__name__


@pytest.mark.parametrize("mode", ERAS)
async def test_a_killed_server_answers_again_on_the_same_session(serve, crib, patient, mode):
    crib.server("victim", restart={"firstDelay": 0.05})
    async with serve() as (host, url), Client(streamable_http_client(url), mode=mode) as client:
        await client.list_tools()
        before = host.servers.status("victim").pid
        os.kill(before, signal.SIGKILL)
        result = await client.call_tool("victim__echo", {"text": "still here"})
        assert result.content[0].text == "still here"
        assert host.servers.status("victim").pid != before


async def test_a_dead_server_is_an_answer_and_not_an_end(serve, crib, patient, until):
    crib.server("dying", restart={"enabled": False})
    crib.server("living")
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        await client.list_tools()
        result = await client.call_tool("dying__crash", {"code": 3})
        assert result.is_error
        assert "exited with code 3" in result.content[0].text
        await until(host, lambda: host.servers.status("dying").state is ServerState.FAILED)
        assert (await client.call_tool("living__echo", {"text": "fine"})).content[0].text == "fine"


async def test_a_hanging_server_keeps_no_other_from_being_listed(serve, crib):
    crib.server("hanging", "hang")
    crib.server("good")
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        await until_listed(client, "good__echo")
        assert host.servers.status("hanging").state is ServerState.STARTING


async def test_a_profile_shows_and_calls_only_its_own(serve, crib, patient):
    crib.server("one")
    crib.server("two")
    profile = Profile(servers=("one",), read_only=True)
    async with serve(profile) as (_, url), Client(streamable_http_client(url)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["one__count", "one__echo"]
        for hidden, arguments in (("two__echo", {"text": "x"}), ("one__pid", {})):
            refused = await client.call_tool(hidden, arguments)
            assert refused.is_error
            assert "Unknown tool" in refused.content[0].text


async def test_a_call_to_a_server_that_still_starts_is_told_so_and_may_be_tried_again(serve, crib, clock):
    crib.server("late", "hang")
    async with serve(Profile()) as (_, url), Client(streamable_http_client(url)) as client:
        calling = asyncio.ensure_future(client.call_tool("late__echo", {"text": "x"}))
        while not calling.done():
            await clock.passes(1)
            await asyncio.wait({calling}, timeout=0.05)
        refused = await calling
        assert refused.is_error
        assert "late is starting" in refused.content[0].text
        assert refused.meta["toolcrib/error"]["retryable"]


async def test_definitions_pass_unchanged_but_for_the_name(serve, crib, patient):
    crib.server("plain")
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        [echo] = [tool for tool in (await client.list_tools()).tools if tool.name == "plain__echo"]
        original = host.toolset.registry.resolve("plain__echo").definition.raw
        assert echo.input_schema == original["inputSchema"]
        assert echo.description == original["description"]
        assert echo.annotations.read_only_hint is True


async def test_in_search_mode_a_client_finds_describes_and_calls_what_it_needs(serve, crib, patient):
    crib.server("many", args=("--tools", "50"))
    async with serve(Profile(search=True)) as (_, url), Client(streamable_http_client(url)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"search_tools", "describe_tool", "call_tool"}
        found = await client.call_tool("search_tools", {"query": "give a text back"})
        assert "many__echo" in found.content[0].text
        described = await client.call_tool("describe_tool", {"name": "many__echo"})
        assert "text" in described.content[0].text
        called = await client.call_tool("call_tool", {"name": "many__echo", "arguments": {"text": "found"}})
        assert called.content[0].text == "found"

"""Resources of all servers through one gateway, in every pair of eras, with the official client in front."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import ACCEPT, DEADLINE, META
from toolcrib.gateway import catalog
from toolcrib.gateway.definitions import matches_template
from toolcrib.gateway.profile import Profile

pytestmark = pytest.mark.usefixtures("patient")

MODES = ["auto", "legacy"]
ERAS = ["legacy", "modern"]
NOT_FOUND = {"auto": -32602, "legacy": -32002}


@pytest.fixture
def connect(serve):
    """Connects the official client in a mode, through a profile."""

    @asynccontextmanager
    async def connecting(mode, profile=None, **options):
        async with (
            serve(profile) as (_, url),
            Client(streamable_http_client(url), mode=mode, **options) as client,
        ):
            yield client

    return connecting


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
async def test_resources_are_listed_and_read_in_every_pair_of_eras(connect, program, mode, back):
    program("memos", "offering.py", back)
    async with connect(mode) as client:
        listed = (await client.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["memo://shared", "memo://data"]
        [text] = (await client.read_resource("memo://shared")).contents
        assert text.text.endswith("memo://shared")
        [data] = (await client.read_resource("memo://data")).contents
        assert data.blob == "AAEC/w=="


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
async def test_templates_are_listed_and_what_fits_them_is_read(connect, program, library, mode, back):
    program("memos", "offering.py", back)
    async with connect(mode) as client:
        listed = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in listed] == ["book://{title}/{page}", "memo://{topic}/notes"]
        [page] = (await client.read_resource("book://emma/3")).contents
        assert page.text == "page 3 of emma"
        [cover] = (await client.read_resource("book://cover")).contents
        assert cover.blob == "iVBORw=="
        [notes] = (await client.read_resource("memo://tea/notes")).contents
        assert notes.text.endswith("memo://tea/notes")


@pytest.mark.parametrize("mode", MODES)
async def test_what_nobody_lists_is_found_by_asking_around(connect, program, library, mode):
    program("memos", "offering.py", "legacy")
    async with connect(mode) as client:
        [secret] = (await client.read_resource("memo://secret")).contents
        assert secret.text.endswith("memo://secret")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back", ERAS)
@pytest.mark.parametrize("uri", ["memo://none", "memo://nothing/notes"])
async def test_an_unknown_resource_is_said_in_the_words_of_the_era(connect, program, mode, back, uri):
    program("memos", "offering.py", back)
    async with connect(mode) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        assert refused.value.error.code == NOT_FOUND[mode]
        assert refused.value.error.data == {"uri": uri}


async def test_of_two_servers_with_one_uri_the_first_by_name_has_it(connect, program):
    program("zebra", "offering.py", "modern", "of the zebra")
    program("ant", "offering.py", "legacy", "of the ant")
    async with connect("auto") as client:
        assert len((await client.list_resources()).resources) == 2
        [shared] = (await client.read_resource("memo://shared")).contents
        assert "of the ant" in shared.text


async def test_a_server_that_does_not_list_keeps_no_other_from_being_listed(connect, program, monkeypatch):
    monkeypatch.setattr(catalog, "PATIENCE", 5.0)
    program("mute", "offering.py", "legacy", "mute")
    program("memos", "offering.py", "modern")
    async with connect("auto") as client, asyncio.timeout(DEADLINE):
        for _ in range(3):
            assert len((await client.list_resources(cache_mode="bypass")).resources) == 2
        assert len((await client.list_resource_templates()).resource_templates) == 1
        assert len((await client.list_prompts()).prompts) == 1


async def test_a_list_that_comes_late_is_announced(connect, program, monkeypatch):
    monkeypatch.setattr(catalog, "PATIENCE", 1.0)
    program("late", "offering.py", "legacy", "mute")
    told = asyncio.Event()

    async def on_message(message):
        if type(message).__name__ == "ResourceListChangedNotification":
            told.set()

    async with connect("legacy", message_handler=on_message) as client, asyncio.timeout(DEADLINE):
        assert (await client.list_resources()).resources == []
        told.clear()
        await client.call_tool("late__touch", {})
        await told.wait()
        assert len((await client.list_resources()).resources) == 2


@pytest.mark.parametrize("back", ERAS)
async def test_definitions_pass_byte_for_byte(serve, program, back):
    program("memos", "offering.py", back)
    async with serve() as (_, url), httpx2.AsyncClient(trust_env=False, headers=ACCEPT) as client:

        async def listed(method):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META}}
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
            return (await client.post(url, json=message, headers=headers, timeout=DEADLINE)).text

        resources, prompts = await listed("resources/list"), await listed("prompts/list")
        assert '{"uri":"memo://shared","name":"shared","x-unknown":[1]}' in resources
        assert '"ttlMs":0,"cacheScope":"private"' in resources
        arguments = '"arguments":[{"name":"who","required":true}]'
        assert '{"name":"memos__greet",' + arguments + ',"x-unknown":{"b":1,"a":2}}' in prompts


async def test_a_profile_hides_the_resources_of_other_servers(connect, program, library):
    program("memos", "offering.py", "legacy")
    async with connect("auto", Profile(servers=("library",))) as client:
        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["book://cover"]
        with pytest.raises(MCPError):
            await client.read_resource("memo://shared")


@pytest.mark.parametrize("back", ERAS)
async def test_a_legacy_client_hears_of_a_resource_while_it_is_subscribed(connect, program, back):
    program("memos", "offering.py", back)
    heard = asyncio.Queue()

    async def on_message(message):
        if type(message).__name__ in ("ResourceUpdatedNotification", "ResourceListChangedNotification"):
            heard.put_nowait(message)

    async with connect("legacy", message_handler=on_message) as client, asyncio.timeout(DEADLINE):
        await client.subscribe_resource("memo://shared")
        await client.call_tool("memos__touch", {})
        while type(told := await heard.get()).__name__ != "ResourceUpdatedNotification":
            pass
        assert str(told.params.uri) == "memo://shared"
        await client.unsubscribe_resource("memo://shared")
        await client.call_tool("memos__touch", {})
        await client.call_tool("memos__grow", {})
        assert type(await heard.get()).__name__ == "ResourceListChangedNotification"


@pytest.mark.parametrize("back", ERAS)
async def test_a_modern_client_hears_of_a_resource_it_listens_for(connect, program, back):
    program("memos", "offering.py", back)
    async with (
        connect("auto") as client,
        asyncio.timeout(DEADLINE),
        client.listen(resource_subscriptions=["memo://shared"]) as changes,
    ):
        await client.call_tool("memos__touch", {})
        assert (await anext(aiter(changes))).uri == "memo://shared"


@pytest.mark.parametrize("back", ERAS)
async def test_a_subscription_outlives_a_restart_of_the_server(serve, program, back):
    program("memos", "offering.py", back)
    heard = asyncio.Event()

    async def on_message(message):
        if type(message).__name__ == "ResourceUpdatedNotification":
            heard.set()

    async with (
        serve() as (host, url),
        Client(streamable_http_client(url), mode="legacy", message_handler=on_message) as client,
        asyncio.timeout(DEADLINE),
    ):
        await client.subscribe_resource("memo://shared")
        os.kill(host.servers.status("memos").pid, signal.SIGKILL)
        while not heard.is_set():
            await client.call_tool("memos__touch", {})


async def test_a_resource_nobody_has_cannot_be_subscribed_to(connect, program):
    program("memos", "offering.py", "legacy")
    async with connect("legacy") as client:
        with pytest.raises(MCPError) as refused:
            await client.subscribe_resource("memo://none")
        assert refused.value.error.code == -32002


@pytest.mark.parametrize(
    ("template", "uri", "fits"),
    [
        ("a://b", "a://b", True),
        ("a://b", "a://bc", False),
        ("a://{x}", "a://b/c", True),
        ("a://{x}/y/{z}", "a://1/y/2", True),
        ("a://{x}/y/{z}", "a://1/2", False),
        ("a://{x}/end", "a://b/end", True),
        ("ab{x}ba", "aba", False),
        ("a://{+path}{?q}", "a://some/path?q=1", True),
    ],
)
def test_a_template_fits_what_it_may_have_made(template, uri, fits):
    assert matches_template(template, uri) is fits

"""Servers that are asleep: what they offer is listed from the last time, and asking for it wakes them."""

from __future__ import annotations

import mcp_types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from toolcrib.gateway.catalog import ListFiles
from toolcrib.schema.servers import ServerState

pytestmark = pytest.mark.usefixtures("patient")

PROMPT = mcp_types.PromptReference(type="ref/prompt", name="memos__greet")


@pytest.fixture
async def asleep(serve, program, crib):
    """A lazy server that has run once with a gateway in front."""
    program("memos", "offering.py", "legacy")
    crib.document["mcpServers"]["memos"]["lazy"] = True
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        await client.list_tools()
        await client.list_prompts()
        await client.list_resources()
        await client.list_resource_templates()


def is_asleep(host):
    status = host.servers.status("memos")
    return status.state is ServerState.READY and status.pid is None


@pytest.mark.usefixtures("asleep")
async def test_what_a_sleeping_server_offers_is_listed_without_waking_it(serve):
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        assert [one.name for one in (await client.list_prompts()).prompts] == ["memos__greet"]
        assert len((await client.list_resources()).resources) == 2
        assert len((await client.list_resource_templates()).resource_templates) == 1
        assert is_asleep(host)


async def get_prompt(client):
    return (await client.get_prompt("memos__greet", {"who": "Ada"})).messages[0].content.text == "Hello Ada"


async def read_listed(client):
    return "memo://shared" in (await client.read_resource("memo://shared")).contents[0].text


async def read_by_template(client):
    return "memo://art/notes" in (await client.read_resource("memo://art/notes")).contents[0].text


async def complete(client):
    return (await client.complete(PROMPT, {"name": "who", "value": "Ad"})).completion.values == ["Ada"]


@pytest.mark.usefixtures("asleep")
@pytest.mark.parametrize("use", [get_prompt, read_listed, read_by_template, complete])
async def test_using_it_wakes_the_server(serve, use):
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        assert is_asleep(host)
        assert await use(client)
        assert not is_asleep(host)


@pytest.mark.usefixtures("asleep")
async def test_subscribing_wakes_the_server(serve):
    async with serve() as (host, url), Client(streamable_http_client(url), mode="legacy") as client:
        await client.subscribe_resource("memo://shared")
        assert not is_asleep(host)


async def test_a_prompt_of_a_server_that_was_never_asked_for_them_is_found_by_its_name(serve, program, crib):
    program("memos", "offering.py", "legacy")
    crib.document["mcpServers"]["memos"]["lazy"] = True
    async with crib.open() as host:
        await host.servers.settle()
    async with serve() as (host, url), Client(streamable_http_client(url)) as client:
        assert (await client.list_prompts()).prompts == []
        assert is_asleep(host)
        with pytest.raises(MCPError, match="Unknown prompt"):
            await client.get_prompt("others__greet", {"who": "Ada"})
        assert is_asleep(host)
        assert await get_prompt(client)


def test_lists_of_another_entry_or_in_a_damaged_file_count_as_none(tmp_path):
    kept = ListFiles(tmp_path)
    kept.save("memos/..", "one", {"prompts": [{"name": "greet"}]})
    assert kept.load("memos/..", "one") == {"prompts": [{"name": "greet"}]}
    assert kept.load("memos/..", "two") == {}
    assert kept.load("others", "one") == {}
    [file] = tmp_path.iterdir()
    for damage in ("{", "[]", '{"fingerprint": "one", "lists": 7}'):
        file.write_text(damage)
        assert kept.load("memos/..", "one") == {}

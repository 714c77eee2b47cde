"""Names without the server's: as if nothing stood between, as long as they are clear."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from toolcrib.gateway.definitions import PlainNames
from toolcrib.gateway.profile import Profile

pytestmark = pytest.mark.usefixtures("patient")

PLAIN = Profile(plain_names=True)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_and_prompts_of_one_server_keep_their_names(serve, program, mode):
    program("memos", "offering.py", "legacy")
    async with serve(PLAIN) as (host, url), Client(streamable_http_client(url), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["grow", "log", "touch"]
        assert (await client.call_tool("touch", {})).content[0].text == "done"
        assert (await client.call_tool("memos__touch", {})).content[0].text == "done"
        assert [one.name for one in (await client.list_prompts()).prompts] == ["greet"]
        greeting = await client.get_prompt("greet", {"who": "Ada"})
        assert greeting.messages[0].content.text == "Hello Ada"
        assert (await client.get_prompt("memos__greet", {"who": "Ada"})).messages == greeting.messages
        await host.audit.flush()
        assert {record.tool for record in await host.audit.query()} == {"memos__touch"}


async def test_names_that_two_servers_give_stay_public_for_both(serve, program, crib):
    program("one", "offering.py", "legacy")
    program("two", "offering.py", "modern")
    crib.server("three")
    async with serve(PLAIN) as (_, url), Client(streamable_http_client(url)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "echo" in names
        assert {"one__touch", "two__touch"} <= set(names)
        assert "touch" not in names
        assert [one.name for one in (await client.list_prompts()).prompts] == ["one__greet", "two__greet"]
        assert (await client.call_tool("two__touch", {})).content[0].text == "done"


async def test_a_name_is_plain_where_the_other_claimant_is_hidden(serve, program):
    program("one", "offering.py", "legacy")
    program("two", "offering.py", "modern")
    profile = Profile(servers=("two",), plain_names=True)
    async with serve(profile) as (_, url), Client(streamable_http_client(url)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["grow", "log", "touch"]
        assert [one.name for one in (await client.list_prompts()).prompts] == ["greet"]


def test_a_plain_name_never_hides_another_public_one():
    names = PlainNames({"one__two__x": "two__x", "two__x": "x", "double": "double"})
    assert names.shown("one__two__x") == "one__two__x"
    assert names.shown("two__x") == "x"
    assert names.shown("double") == "double"
    assert names.public("two__x") == "two__x"
    assert names.public("x") == "two__x"

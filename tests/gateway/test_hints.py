"""How long a list or a resource holds: what servers say of it is kept to, and passed on, never lengthened."""

from __future__ import annotations

import json

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

pytestmark = pytest.mark.usefixtures("patient")


async def fetched(client, server="memos"):
    """How often the server was asked for its prompts."""
    answer = await client.call_tool(f"{server}__mirror", {})
    return json.loads(answer.content[0].text)["listed"]


@pytest.mark.parametrize(
    ("servers", "least", "most"),
    [
        ([("modern", "30000")], 1, 30_000),
        ([("modern", "30000"), ("modern", "9000")], 1, 9_000),
        ([("modern", "3000000")], 30_001, 60_000),
        ([("modern", "30000"), ("modern", "0")], 0, 0),
        ([("modern", "30000"), ("legacy", "0")], 0, 0),
    ],
)
async def test_a_list_holds_as_long_as_the_shortest_of_its_parts(serve, program, servers, least, most):
    for number, arguments in enumerate(servers):
        program(f"s{number}", "mirror.py", *arguments)
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        listed = await client.list_prompts()
        assert len(listed.prompts) == len(servers)
        assert least <= listed.ttl_ms <= most
        assert listed.cache_scope == "private"


async def test_a_list_that_holds_is_fetched_once(serve, program):
    program("memos", "mirror.py", "modern", "600000")
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        for _ in range(3):
            await client.list_prompts(cache_mode="bypass")
        assert await fetched(client) == 1


async def test_a_list_that_does_not_hold_is_fetched_again(serve, program):
    program("memos", "mirror.py", "modern", "0")
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        for _ in range(3):
            await client.list_prompts(cache_mode="bypass")
        assert await fetched(client) == 3


async def test_an_older_server_that_says_nothing_is_asked_once(serve, program):
    program("memos", "mirror.py", "legacy", "0")
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        for _ in range(3):
            await client.list_prompts(cache_mode="bypass")
        assert await fetched(client) == 1


@pytest.mark.parametrize(("era", "hints"), [("modern", (5000, "public")), ("legacy", (0, "private"))])
async def test_a_resource_holds_as_its_server_says(serve, program, era, hints):
    program("memos", "mirror.py", era, "5000")
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        read = await client.read_resource("page://one")
        assert (read.ttl_ms, read.cache_scope) == hints

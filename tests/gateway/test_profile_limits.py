"""A profile shows nothing of other servers, and the options of `serve` only narrow a profile."""

from __future__ import annotations

import asyncio
import sys

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.gateway.conftest import PROGRAMS
from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker, eventually
from tests.gateway.test_questions import STDIO_ENVIRONMENT
from toolcrib.config.tokens import hash_token, new_token
from toolcrib.gateway.profile import Profile, empty_profile

pytestmark = pytest.mark.usefixtures("patient")

URI = "memo://shared"


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


@pytest.fixture(autouse=True)
def servers(crib, program):
    """`other` has prompts and resources, and no read-only tool."""
    crib.server("one")
    program("other", "offering.py", "modern")


LIMITED = {
    "patterns": {"tools": ["one__*"]},
    "read only": {"readOnly": True},
    "both": {"tools": ["o*"], "readOnly": True},
    "plain names": {"tools": ["one__*"], "plainNames": True},
    "search": {"tools": ["one__*"], "search": True},
}


@pytest.mark.parametrize("limits", LIMITED.values(), ids=LIMITED)
async def test_servers_without_a_visible_tool_show_nothing_else(serve, crib, client, limits):
    crib.setting(profiles={"pat": limits})
    async with serve() as (host, url):
        await host.ready()
        limited, whole = Speaker(client, f"{url}/pat"), Speaker(client, url)
        assert (await whole.modern("resources/read", uri=URI)).json()["result"]["contents"]
        reference = {"type": "ref/prompt", "name": "other__greet"}
        argument = {"name": "who", "value": "A"}
        for method, key in (
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ):
            assert (await whole.modern(method)).json()["result"][key]
            assert (await limited.modern(method)).json()["result"][key] == []
        for answer in (
            await limited.modern("resources/read", uri=URI),
            await limited.modern("resources/read", uri="memo://garden/notes"),
            await limited.modern("prompts/get", name="other__greet", arguments={"who": "Ada"}),
            await limited.modern("prompts/get", name="greet", arguments={"who": "Ada"}),
            await limited.modern("completion/complete", ref=reference, argument=argument),
        ):
            assert answer.json()["error"]["code"] == -32602
        called = (await limited.modern("tools/call", name="other__touch", arguments={})).json()
        assert called["result"]["isError"]
        await limited.open()
        subscribed = (await limited.legacy("resources/subscribe", uri=URI)).json()
        assert "error" in subscribed


async def test_a_server_with_a_visible_tool_shows_its_resources_and_prompts(serve, crib, client):
    crib.setting(profiles={"pat": {"tools": ["other__touch"]}})
    async with serve() as (host, url):
        await host.ready()
        limited = Speaker(client, f"{url}/pat")
        assert await limited.names() == ["other__touch"]
        assert (await limited.modern("resources/read", uri=URI)).json()["result"]["contents"]
        assert (await limited.modern("prompts/list")).json()["result"]["prompts"]


async def test_the_health_of_a_limited_view_counts_its_own_servers(serve, crib, client):
    token = new_token()
    crib.setting(
        gateway={"tokenHash": hash_token(new_token())},
        profiles={"pat": {"tools": ["one__*"], "tokenHash": hash_token(token)}},
    )
    async with serve() as (host, url):
        await host.ready()
        address = url.removesuffix("/mcp") + "/healthz"
        health = await client.get(address, headers={"Authorization": f"Bearer {token}"})
        assert health.json()["servers"] == {"ready": 1}


@pytest.mark.parametrize("limits", [{"tools": ["one__*"]}, {"readOnly": True}])
async def test_an_error_does_not_name_a_server_that_is_not_shown(serve, crib, client, limits):
    crib.entry("broken", {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]})
    crib.setting(profiles={"pat": limits})
    async with serve() as (host, url):
        await host.ready()
        called = await Speaker(client, f"{url}/pat").modern("tools/call", name="broken__x", arguments={})
        assert called.json()["result"]["content"][0]["text"] == "Unknown tool: broken__x"


NARROWED = {
    "no common server": (Profile(name="quiet", servers=("other",)), []),
    "a pattern of another server": (Profile(name="quiet", tools=("other__*",)), []),
    "a common pattern": (Profile(name="quiet", tools=("*__echo", "other__*")), ["one__echo"]),
    "all of the server": (Profile(name="quiet", servers=("one", "other")), ["one__count", "one__echo"]),
    "read-only": (Profile(name="quiet", tools=("one__*",), read_only=True), ["one__count", "one__echo"]),
}


@pytest.mark.parametrize(("asked", "names"), NARROWED.values(), ids=NARROWED)
async def test_options_only_narrow_a_profile(serve, crib, client, asked, names):
    crib.setting(profiles={"quiet": {"servers": ["one"], "readOnly": True}})
    async with serve(asked) as (host, url):
        await host.ready()
        quiet = Speaker(client, f"{url}/quiet")
        assert await quiet.names() == names
        assert (await quiet.modern("resources/list")).json()["result"]["resources"] == []
        crib.setting(profiles={"quiet": {"servers": ["other"], "readOnly": False}})
        await host.reload()
        shown = await quiet.names()
        assert all(name.startswith("other__") for name in shown)
        assert bool(shown) == ("other" in asked.servers or "other__*" in asked.tools) or asked.read_only


def test_a_profile_says_that_the_options_leave_nothing():
    quiet, other = Profile(servers=("one",)), Profile(servers=("other",))
    assert Profile(servers=("one",), within=other).leaves_nothing([])
    assert not Profile(within=other).leaves_nothing([])
    assert not quiet.leaves_nothing([])


async def test_serve_says_what_asks_and_that_nothing_is_offered(crib, tmp_path):
    crib.setting(profiles={"quiet": {"servers": ["one"]}})
    said = tmp_path / "said"
    options = ["--profile", "quiet", "--server", "other"]
    arguments = ["-m", "toolcrib", "--home", str(crib.home), "serve", "--stdio", *options]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=STDIO_ENVIRONMENT)
    with said.open("w") as log:
        async with Client(stdio_client(command, errlog=log)) as client:
            assert (await client.list_tools()).tools == []
    assert "No tool is offered: none fits both the profile quiet and the options." in said.read_text()
    assert "ask before they send, invite or delete" in said.read_text()


async def test_a_profile_is_followed_over_stdio(crib):
    crib.setting(profiles={"quiet": {"servers": ["one"]}})
    arguments = ["-m", "toolcrib", "--home", str(crib.home), "serve", "--stdio", "--profile", "quiet"]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=STDIO_ENVIRONMENT)
    async with Client(stdio_client(command)) as client:

        async def names():
            return {tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools}

        async def until(expected):
            while await names() != expected:
                pass

        async with asyncio.timeout(DEADLINE):
            while len(await names()) < 9:
                pass
            crib.setting(profiles={"quiet": {"servers": ["one"], "readOnly": True}})
            await until({"one__count", "one__echo"})
            crib.setting(profiles={})
            await until(set())


def test_an_empty_profile_shows_nothing():
    assert not empty_profile("gone").may_show("one", "one__echo")
    assert empty_profile("gone").limits_tools


async def test_resources_are_announced_when_a_server_gets_a_visible_tool(serve, crib, client):
    crib.setting(profiles={"pat": {"tools": ["other__*"]}})
    crib.document["mcpServers"].pop("other")
    entry = {"command": sys.executable, "args": [str(PROGRAMS / "offering.py"), "modern"]}
    async with serve() as (host, url):
        await host.ready()
        limited = Speaker(client, f"{url}/pat")
        assert (await limited.modern("resources/list")).json()["result"]["resources"] == []
        crib.entry("other", entry)
        await host.reload()
        await eventually(lambda: host.servers.status("other").tools)
        assert (await limited.modern("resources/list")).json()["result"]["resources"]

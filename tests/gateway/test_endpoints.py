"""One address with all profiles: each with its path, its token and its clients, as the config file says."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker, bearer, eventually, until_called
from toolcrib.config.tokens import hash_token, new_token
from toolcrib.gateway.http.server import serve_http


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


def profiles(crib, **named) -> None:
    """Write the profiles as an editor would."""
    crib.setting(profiles=named)


async def changed(host, crib, **named) -> None:
    """Write them while the host runs, and wait until it has read them."""
    before = host.config
    profiles(crib, **named)
    await eventually(lambda: host.config is not before)


async def test_every_profile_has_its_own_path_on_one_port(serve, crib, client):
    crib.server("one")
    crib.server("two")
    profiles(crib, first={"servers": ["one"], "readOnly": True}, find={"search": True})
    async with serve() as (host, url):
        await host.ready()
        assert len(await Speaker(client, url).names()) == 18
        assert await Speaker(client, f"{url}/first").names() == ["one__count", "one__echo"]
        assert (await Speaker(client, f"{url}/find").names())[0] == "search_tools"
        assert (await client.get(f"{url}/other")).status_code == 404


async def test_a_call_is_recorded_under_its_profile(serve, crib, client):
    crib.server("one")
    profiles(crib, quiet={})
    async with serve() as (host, url):
        await host.ready()
        for path in ("", "/quiet"):
            speaker = Speaker(client, f"{url}{path}")
            answer = await speaker.modern("tools/call", name="one__echo", arguments={"text": path})
            assert answer.json()["result"]["content"][0]["text"] == path
        records = await host.audit.query()
        assert {record.principal for record in records} == {"gateway", "gateway:quiet"}


async def test_a_profile_with_a_token_is_open_to_nobody_else(serve, crib, client):
    crib.server("one")
    token, other = new_token(), new_token()
    profiles(crib, closed={"tokenHash": hash_token(token)}, other={"tokenHash": hash_token(other)})
    async with serve() as (host, url):
        await host.ready()
        closed = f"{url}/closed"
        wrong = [
            {},
            {"Authorization": "Bearer"},
            bearer("wrong"),
            bearer(other),
            bearer(token[:-1]),
            bearer(f"{token}x"),
            {"Authorization": token},
            {"Authorization": f"Basic {token}"},
        ]
        answers = [await Speaker(client, closed, **headers).modern("tools/list") for headers in wrong]
        answers.append(await client.get(closed))
        answers.append(await client.delete(closed))
        answers.append(await client.get(f"{closed}?token={token}"))
        assert {answer.status_code for answer in answers} == {401}
        assert {answer.headers["www-authenticate"] for answer in answers} == {'Bearer realm="toolcrib"'}
        assert len({answer.content for answer in answers}) == 1
        for headers in (bearer(token), {"authorization": f"bearer {token}"}):
            assert (await Speaker(client, closed, **headers).modern("tools/list")).status_code == 200
        assert (await Speaker(client, url).modern("tools/list")).status_code == 200


async def test_the_whole_crib_can_have_a_token_too(serve, crib, client):
    token = new_token()
    crib.setting(gateway={"tokenHash": hash_token(token)})
    profiles(crib, open={})
    async with serve() as (host, url):
        await host.ready()
        assert (await Speaker(client, url).modern("tools/list")).status_code == 401
        assert (await Speaker(client, url, **bearer(token)).modern("tools/list")).status_code == 200
        assert (await Speaker(client, f"{url}/open").modern("tools/list")).status_code == 200
        assert (await client.get(url.replace("/mcp", "/healthz"))).status_code == 200


async def test_what_is_no_hash_lets_nobody_in(serve, crib, client):
    profiles(crib, broken={"tokenHash": "sha256:"}, odd={"tokenHash": "plain"})
    async with serve() as (host, url):
        await host.ready()
        tries = [("broken", {"Authorization": "Bearer"}), ("odd", bearer("plain")), ("odd", {})]
        for path, headers in tries:
            speaker = Speaker(client, f"{url}/{path}", **headers)
            assert (await speaker.modern("tools/list")).status_code == 401


async def test_a_session_of_one_profile_is_unknown_in_another(serve, crib, client):
    profiles(crib, one={}, two={})
    async with serve() as (host, url):
        await host.ready()
        one, two = Speaker(client, f"{url}/one"), Speaker(client, f"{url}/two")
        await one.open()
        two.session = one.session
        assert (await two.legacy("tools/list")).status_code == 404
        assert (await one.legacy("tools/list")).status_code == 200


async def test_a_profile_that_is_added_is_served_at_once(serve, crib, client):
    crib.server("one")
    async with serve() as (host, url):
        await host.ready()
        added = Speaker(client, f"{url}/added")
        assert (await added.modern("tools/list")).status_code == 404
        await changed(host, crib, added={"tools": ["one__echo"]})
        assert await added.names() == ["one__echo"]


async def test_the_clients_of_a_changed_profile_are_told(serve, crib, client):
    crib.server("one")
    profiles(crib, view={"tools": ["one__echo"]})
    async with serve() as (host, url):
        await host.ready()
        speaker = Speaker(client, f"{url}/view")
        await speaker.open()
        async with speaker.stream() as stream, asyncio.timeout(DEADLINE):
            lines = stream.aiter_lines()
            await anext(lines)
            await changed(host, crib, view={"tools": ["one__pid"]})
            while "notifications/tools/list_changed" not in await anext(lines):
                pass
        listed = (await speaker.legacy("tools/list")).json()["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["one__pid"]
        refused = await speaker.legacy("tools/call", name="one__echo", arguments={"text": "x"})
        assert "Unknown tool" in refused.json()["result"]["content"][0]["text"]


@pytest.mark.parametrize("after", [{}, {"view": {"tokenHash": hash_token("another")}}])
async def test_the_clients_of_a_removed_profile_or_token_are_cut_off(serve, crib, client, after):
    crib.server("slow")
    token = new_token()
    profiles(crib, view={"tokenHash": hash_token(token)})
    async with serve() as (host, url):
        await host.ready()
        speaker = Speaker(client, f"{url}/view", **bearer(token))
        await speaker.open()
        await speaker.legacy("tools/list")
        calling = asyncio.create_task(
            speaker.legacy("tools/call", name="slow__sleep", arguments={"seconds": 300})
        )
        modern = asyncio.create_task(
            speaker.modern("tools/call", name="slow__sleep", arguments={"seconds": 300})
        )
        await until_called(Speaker(client, url), "slow", 2)
        async with speaker.stream() as stream, asyncio.timeout(DEADLINE):
            await changed(host, crib, **after)
            async for _ in stream.aiter_lines():
                pass
        for answer in (await calling, await modern):
            assert "may or may not have taken effect" in answer.json()["error"]["message"]
        assert (await speaker.legacy("tools/list")).status_code in (401, 404)


async def test_an_address_that_others_reach_needs_a_token_for_every_view(crib, client):
    token = new_token()
    crib.setting(gateway={"tokenHash": hash_token(token)})
    async with crib.open() as host, serve_http(host, address="0.0.0.0") as (base, _):
        url = f"{base}/mcp"
        assert (await Speaker(client, url).modern("tools/list")).status_code == 401
        assert (await Speaker(client, url, **bearer(token)).modern("tools/list")).status_code == 200
        await changed(host, crib, late={})
        assert (await Speaker(client, f"{url}/late").modern("tools/list")).status_code == 401
        answer = await Speaker(client, f"{url}/late", **bearer(token)).modern("tools/list")
        assert answer.status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [("crib.example", 200), ("CRIB.example:80", 200), ("evil.example", 421), ("", 421), ("a/?x=", 421)],
)
async def test_further_names_are_allowed_by_name(serve, client, host, status):
    async with serve(allowed_hosts=["crib.example"]) as (_, url):
        url = url.replace("crib.example", "127.0.0.1")
        assert (await Speaker(client, url, Host=host).modern("tools/list")).status_code == status


async def test_always_on_tools_and_how_many_are_found_are_settings(serve, crib, client):
    crib.server("many", args=("--tools", "30"))
    crib.setting(retrieval={"k": 3, "alwaysOn": ["many__echo"]})
    profiles(crib, usual={"search": True}, own={"search": True, "k": 7, "alwaysOn": []})
    async with serve() as (host, url):
        await host.ready()
        for path, shown, found in (("usual", ["many__echo"], 3), ("own", [], 7)):
            speaker = Speaker(client, f"{url}/{path}")
            listing = (await speaker.modern("tools/list")).json()["result"]["tools"]
            assert [tool["name"] for tool in listing][3:] == shown
            assert listing[0]["inputSchema"]["properties"]["limit"]["default"] == found
            query = {"query": "filler number"}
            answer = await speaker.modern("tools/call", name="search_tools", arguments=query)
            assert len(answer.json()["result"]["structuredContent"]["tools"]) == found
        echo = await Speaker(client, f"{url}/usual").modern(
            "tools/call", name="many__echo", arguments={"text": "straight"}
        )
        assert json.loads(echo.text)["result"]["content"][0]["text"] == "straight"

"""The address itself: who may knock, what is refused, and that nothing is endured without bound."""

from __future__ import annotations

import httpx2
import pytest

from tests.gateway.speaking import ACCEPT, DEADLINE, META

MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


async def test_a_list_is_one_plain_json_object(serve, crib, client, patient):
    crib.server("plain")
    async with serve() as (_, url):
        answer = await client.post(url, json=LIST, headers=MODERN)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        result = answer.json()["result"]
        assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
        assert len(result["tools"]) == 9


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
    ],
)
async def test_a_web_page_of_another_host_is_turned_away(serve, client, headers, status):
    async with serve() as (_, url):
        answer = await client.post(url, json=LIST, headers={**MODERN, **headers})
        assert answer.status_code == status


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Mcp-Method": "tools/list"}, -32020),
        ({"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/list"}, -32020),
    ],
)
async def test_headers_that_contradict_the_body_are_refused(serve, client, headers, code):
    async with serve() as (_, url):
        answer = await client.post(url, json=LIST, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


async def test_an_unknown_modern_version_is_told_which_ones_there_are(serve, client):
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    message = {**LIST, "params": {"_meta": meta}}
    headers = {**MODERN, "MCP-Protocol-Version": "2099-01-01"}
    async with serve() as (_, url):
        answer = await client.post(url, json=message, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["error"]["data"]["supported"] == ["2026-07-28"]


async def test_a_legacy_client_has_a_session_until_it_leaves(serve, client):
    async with serve() as (_, url):
        opened = await client.post(url, json=INITIALIZE)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert opened.json()["result"]["protocolVersion"] == "2025-06-18"
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await client.post(url, json=listing)).status_code == 400
        assert (await client.post(url, json=listing, headers=session)).status_code == 200
        assert (await client.delete(url, headers=session)).status_code == 200
        assert (await client.post(url, json=listing, headers=session)).status_code == 404


@pytest.mark.parametrize(("body", "code"), [(b"{", -32700), (b"[]", -32600), (b"7", -32600)])
async def test_what_is_no_message_is_refused(serve, client, body, code):
    async with serve() as (_, url):
        answer = await client.post(url, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


async def test_other_paths_and_methods_say_what_there_is(serve, client):
    async with serve() as (_, url):
        assert (await client.get(url.replace("/mcp", "/healthz"))).json()["status"] == "ok"
        assert (await client.get(url.replace("/mcp", "/"))).status_code == 404
        assert (await client.put(url)).status_code == 405
        assert (await client.get(url)).status_code == 400

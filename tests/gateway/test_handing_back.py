"""From a modern client to a modern server nothing is kept on the way: questions, states, abilities pass."""

from __future__ import annotations

import json
import sys

import httpx2
import mcp_types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import ACCEPT, META
from tests.gateway.test_questions import LEGACY
from toolcrib.gateway.bridge import sign_state
from toolcrib.gateway.identity import SessionlessClients

pytestmark = pytest.mark.usefixtures("patient")

ABLE = {"elicitation": {"form": {}}}
RESPONSES = {"q": {"action": "accept", "content": {"how": "Good evening"}}}


async def get_prompt(url, name="memos__greet", able=ABLE, **more):
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": able}
    params = {"name": name, "arguments": {"who": "Ada"}, "_meta": meta, **more}
    message = {"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "prompts/get", "Mcp-Name": name}
    async with httpx2.AsyncClient(trust_env=False, headers={**ACCEPT, **headers}, timeout=60) as client:
        return (await client.post(url, json=message)).json()


async def test_a_client_may_come_back_to_another_gateway_and_another_process_of_the_server(serve, program):
    program("memos", "offering.py", "modern", "asks")
    async with serve() as (_, url):
        asked = (await get_prompt(url))["result"]
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["q"]["params"]["message"] == "How?"
    async with serve() as (_, url):
        for _ in range(2):
            again = await get_prompt(url, requestState=asked["requestState"], inputResponses=RESPONSES)
            assert again["result"]["messages"][0]["content"]["text"] == "Good evening Ada"


async def test_a_state_is_good_for_what_it_was_given_for_alone(serve, program):
    program("memos", "offering.py", "modern", "asks")
    program("others", "offering.py", "modern", "asks")
    async with serve() as (_, url):
        state = (await get_prompt(url))["result"]["requestState"]
        for name, wrong in {
            "others__greet": state,
            "memos__greet": f"{state[:-1]}{'0' if state[-1] != '0' else '1'}",
        }.items():
            refused = await get_prompt(url, name, requestState=wrong, inputResponses=RESPONSES)
            assert refused["error"]["code"] == -32602


async def test_a_state_reaches_no_server_but_its_own(serve, program):
    program("memos", "offering.py", "modern", "asks")
    client = SessionlessClients("").of({"params": {"_meta": META}})
    subject = ("prompts/get", "memos__greet", {"who": "Ada"})
    foreign = sign_state("others", "mine", json.dumps([client.name, client.session, subject]))
    async with serve() as (_, url):
        refused = await get_prompt(url, requestState=foreign, inputResponses=RESPONSES)
        assert refused["error"]["code"] == -32602
        assert "belongs to another server" in refused["error"]["message"]


async def test_what_a_client_cannot_answer_it_is_not_asked(serve, program):
    program("memos", "offering.py", "modern", "asks")
    async with serve() as (_, url):
        refused = (await get_prompt(url, able={}))["error"]
        assert refused["code"] == -32021
        assert refused["data"] == {"requiredCapabilities": {"elicitation": {}}}


async def test_a_call_that_waits_for_an_older_server_goes_on_once(serve, crib, tmp_path):
    script = tmp_path / "asking.py"
    script.write_text(LEGACY)
    crib.entry("asking", {"command": sys.executable, "args": [str(script)]})
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": ABLE}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "asking__greet"}
    async with (
        serve() as (_, url),
        httpx2.AsyncClient(trust_env=False, headers={**ACCEPT, **headers}, timeout=60) as client,
    ):

        async def call(**more):
            params = {"name": "asking__greet", "arguments": {}, "_meta": meta, **more}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return (await client.post(url, json=message)).json()

        asked = (await call())["result"]
        responses = {key: {"action": "accept", "content": {"name": "Eve"}} for key in asked["inputRequests"]}
        back = {"requestState": asked["requestState"], "inputResponses": responses}
        assert (await call(**back))["result"]["content"][0]["text"] == "Hello Eve"
        assert (await call(**back))["error"]["code"] == -32602


async def decline(context, params):
    return mcp_types.ElicitResult(action="decline")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("callback", [None, decline])
async def test_a_modern_server_hears_what_the_client_can_do_and_no_more(serve, program, mode, callback):
    program("memos", "mirror.py", "modern", "0")
    async with (
        serve() as (_, url),
        Client(streamable_http_client(url), mode=mode, elicitation_callback=callback) as client,
    ):
        await client.list_tools()
        answer = await client.call_tool("memos__mirror", {}, meta={"example.com/own": 1})
        meta = json.loads(answer.content[0].text)["params"]["_meta"]
        able = meta["io.modelcontextprotocol/clientCapabilities"]
        assert set(able) == ({"elicitation"} if callback else set())
        assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "toolcrib"
        assert meta["example.com/own"] == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_a_request_carries_besides_reaches_an_older_server(serve, program, mode):
    program("memos", "mirror.py", "legacy", "0")
    async with serve() as (_, url), Client(streamable_http_client(url), mode=mode) as client:
        await client.list_tools()
        answer = await client.call_tool("memos__mirror", {}, meta={"example.com/own": 1})
        assert json.loads(answer.content[0].text)["params"]["_meta"] == {"example.com/own": 1}

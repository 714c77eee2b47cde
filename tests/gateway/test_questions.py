"""What a server asks reaches the client whose call it is, in all four pairs of eras, over HTTP and stdio."""

from __future__ import annotations

import asyncio
import sys
from contextlib import asynccontextmanager

import httpx2
import mcp_types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.speaking import ACCEPT, DEADLINE, META, until_listed

pytestmark = pytest.mark.usefixtures("patient")

LEGACY = """
import json, sys
def send(message): sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
tool = {"name": "greet", "inputSchema": {"type": "object"}}
schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
waiting = {}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "asking", "version": "1"}
        send({"jsonrpc": "2.0", "id": number, "result": {"protocolVersion": "2025-06-18",
              "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"jsonrpc": "2.0", "id": number, "result": {"tools": [tool]}})
    elif method == "tools/call":
        waiting["q"] = number
        send({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
              "params": {"message": "Who are you?", "requestedSchema": schema}})
    elif number == "q" and "method" not in message:
        refused = message.get("error", {}).get("message")
        said = message.get("result", {}).get("content", {}).get("name", refused)
        content = [{"type": "text", "text": f"Hello {said}"}]
        send({"jsonrpc": "2.0", "id": waiting.pop("q"), "result": {"content": content}})
    elif number is not None and method:
        send({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}})
"""
MODERN = """
from typing import Annotated
from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel
class Person(BaseModel):
    name: str
async def ask() -> Person | Elicit[Person]:
    return Elicit("Who are you?", Person)
server = MCPServer("asking")
@server.tool()
async def greet(person: Annotated[Person, Resolve(ask)]) -> str:
    return f"Hello {person.name}"
server.run()
"""
PROGRAMS = {"legacy": LEGACY, "modern": MODERN}
STDIO_ENVIRONMENT = {"TOOLCRIB_KEYRING": "off", "TOOLCRIB_TRUST_CONFIG": "1"}


@pytest.fixture(params=PROGRAMS)
def asking(request, crib, tmp_path):
    """A server that asks for a name before it greets."""
    program = tmp_path / "asking.py"
    program.write_text(PROGRAMS[request.param])
    crib.entry("asking", {"command": sys.executable, "args": [str(program)]})


@pytest.fixture(params=["http", "stdio"])
def connect(request, serve, crib):
    """Connects the official client in a mode; yields it."""

    @asynccontextmanager
    async def over_http(mode, **options):
        async with serve() as (_, url), Client(streamable_http_client(url), mode=mode, **options) as client:
            yield client

    @asynccontextmanager
    async def over_stdio(mode, **options):
        arguments = ["-m", "toolcrib", "--home", str(crib.home), "serve", "--stdio"]
        command = StdioServerParameters(command=sys.executable, args=arguments, env=STDIO_ENVIRONMENT)
        async with Client(stdio_client(command), mode=mode, **options) as client:
            await until_listed(client, "asking__greet")
            yield client

    return over_http if request.param == "http" else over_stdio


@pytest.mark.usefixtures("asking")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_person_is_asked_and_the_call_goes_on(connect, mode):
    asked = []

    async def answer(context, params):
        asked.append(params.message)
        return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})

    async with connect(mode, elicitation_callback=answer) as client:
        await client.list_tools()
        result = await client.call_tool("asking__greet", {})
        assert result.content[0].text == "Hello Ada"
        assert asked == ["Who are you?"]


@pytest.mark.usefixtures("asking")
async def test_a_client_that_cannot_be_asked_is_not(serve):
    async with serve() as (_, url), Client(streamable_http_client(url)) as client:
        await client.list_tools()
        try:
            said = (await client.call_tool("asking__greet", {})).content[0].text
        except MCPError as error:
            said = str(error)
        assert "elicitation" in said


@pytest.mark.usefixtures("asking")
async def test_a_state_is_good_only_as_it_was_given(serve):
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}

    async def call(client, url, **params):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "asking__greet", "arguments": {}, "_meta": meta, **params},
        }
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": params.get("name", "asking__greet"),
        }
        return (await client.post(url, json=message, headers=headers, timeout=DEADLINE)).json()

    async with serve() as (_, url), httpx2.AsyncClient(trust_env=False, headers=ACCEPT) as client:
        first = (await call(client, url))["result"]
        assert first["resultType"] == "input_required"
        [(key, question)] = first["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        responses = {key: {"action": "accept", "content": {"name": "Eve"}}}
        state = first["requestState"]
        altered = await call(client, url, requestState=state + "x", inputResponses=responses)
        assert altered["error"]["code"] == -32602
        done = await call(client, url, requestState=state, inputResponses=responses)
        assert done["result"]["content"][0]["text"] == "Hello Eve"


@pytest.mark.usefixtures("asking")
async def test_a_question_nobody_answers_ends_with_the_gateway(serve):
    asked = asyncio.Event()

    async def never(context, params):
        asked.set()
        await asyncio.Event().wait()

    async with (
        serve() as (_, url),
        Client(streamable_http_client(url), elicitation_callback=never) as client,
    ):
        await client.list_tools()
        call = asyncio.create_task(client.call_tool("asking__greet", {}))
        await asyncio.wait_for(asked.wait(), 60)
        assert not call.done()
        call.cancel()
        await asyncio.wait({call})

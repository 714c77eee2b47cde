"""The list of tools is made once for all who ask and never out of date; a call does not wait for it."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from tests.loop_meter import LIMIT, LoopMeter
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.methods.tools import list_tools
from toolcrib.gateway.profile import Profile
from toolcrib.gateway.wire import Encoded, encode
from toolcrib.schema.servers import ServerState
from toolcrib.serverkit.protocol import Request

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
}


class Client:
    """All that a list needs to know of whoever asks."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway


async def listed(gateway: Gateway, *, modern: bool = False) -> Encoded:
    return await list_tools(Client(gateway), Request(1, "tools/list", {}, {}, modern), None)


@pytest.mark.parametrize("modern", [False, True])
async def test_a_list_is_made_once(crib, modern):
    crib.server("plain")
    async with crib.open() as host:
        await host.ready()
        gateway = Gateway(host)
        first = await listed(gateway, modern=modern)
        assert first["tools"]
        assert await listed(gateway, modern=modern) is first


async def test_a_changed_registry_is_listed_anew(crib):
    crib.server("plain")
    async with crib.open() as host:
        await host.ready()
        gateway = Gateway(host)
        before = await listed(gateway)
        host.toolset.registry.withdraw("plain")
        after = await listed(gateway)
        assert len(after["tools"]) < len(before["tools"])
        assert not any(tool["name"].startswith("plain__") for tool in after["tools"])


async def test_a_changed_view_is_listed_anew(crib):
    crib.server("plain")
    async with crib.open() as host:
        await host.ready()
        gateway = Gateway(host)
        assert (await listed(gateway))["tools"]
        gateway.change(Profile(tools=("nothing_is_called_so",)))
        assert (await listed(gateway))["tools"] == []


async def test_each_client_gets_the_list_under_its_own_id(serve, crib, patient):
    crib.server("plain")
    async with (
        serve() as (_, url),
        httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=60) as client,
    ):

        async def ask(number: object) -> dict:
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {"_meta": META}}
            return (await client.post(url, json=message)).json()

        one, other = await asyncio.gather(ask(1), ask('a "quoted" id'))
        assert (one["id"], other["id"]) == (1, 'a "quoted" id')
        assert one["result"] == other["result"]
        assert one["result"]["resultType"] == "complete"


@pytest.mark.parametrize("number", [0, "ä", 'with "quotes"'])
def test_what_was_encoded_before_reads_the_same(number):
    result = {"tools": [{"name": "ö", "description": "\u2028"}]}
    plain = {"jsonrpc": "2.0", "id": number, "result": result}
    assert encode({**plain, "result": Encoded(result)}) == encode(plain)


@pytest.mark.usefixtures("patient")
async def test_a_call_waits_for_its_own_server_and_for_no_other(serve, crib):
    crib.server("hanging", "hang")
    crib.server("good")
    headers = {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "good__echo"}
    params = {"name": "good__echo", "arguments": {"text": "fine"}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with serve() as (host, url), httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        answer = (await client.post(url, json=message, headers=headers)).json()
        assert answer["result"]["content"][0]["text"] == "fine"
        assert host.servers.status("hanging").state is ServerState.STARTING


@pytest.mark.parametrize("modern", [False, True])
async def test_a_long_list_is_encoded_in_steps_and_once_for_all_clients(crib, modern):
    crib.server("plain")
    async with crib.open() as host:
        await host.ready()
        schema = {"properties": {f"p{number}": {"type": "string"} for number in range(20)}}
        tools = [{"name": f"tool_{number}", "inputSchema": schema} for number in range(3000)]
        host.toolset.registry.put("many", "inline", tools)
        gateway = Gateway(host)
        with LoopMeter() as meter:
            pages = await asyncio.gather(*(listed(gateway, modern=modern) for _ in range(20)))
        assert meter.turn < LIMIT
        assert all(page is pages[0] for page in pages)
        assert json.loads(pages[0].json) == pages[0]

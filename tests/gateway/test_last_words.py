"""What a remote server logs right before its answer still reaches the client, and before the answer."""

from __future__ import annotations

import json

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.servers.remote.scripted import scripted

pytestmark = pytest.mark.usefixtures("patient")

INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "talker", "version": "1"},
}
ANSWERS = {
    "initialize": INITIALIZED,
    "tools/list": {"tools": [{"name": "talk", "inputSchema": {"type": "object"}}]},
}
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "Done."}}


async def talk(call, reply):
    """A legacy server whose last words and answer come in one piece."""
    message = call.message
    if call.method != "POST":
        await reply.send(405)
    elif "id" not in message:
        await reply.send(202)
    elif message["method"] != "tools/call":
        await reply.result(call, ANSWERS.get(message["method"], {}))
    else:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
        await reply.stream()
        await reply.chunk(b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in (LOG, answer)))
        await reply.end()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_last_words_of_a_server_are_heard(serve, crib, mode):
    heard = []

    async def on_log(params):
        heard.append(params.data)

    async with scripted(talk) as server:
        crib.entry("talker", {"url": server.url, "era": "legacy"})
        async with (
            serve() as (_, url),
            Client(
                streamable_http_client(url), mode=mode, logging_callback=on_log, log_level="info"
            ) as client,
        ):
            await client.list_tools()
            for count in range(1, 6):
                await client.call_tool("talker__talk", {})
                assert heard == ["Done."] * count

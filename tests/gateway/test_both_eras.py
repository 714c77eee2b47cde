"""A remote server of both eras can ask an older client only in the older era: it gets such a connection."""

from __future__ import annotations

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitResult
from pydantic import BaseModel

from tests.asgi_server import serving
from tests.servers.signin.issuer import listening_socket


class Name(BaseModel):
    """What is asked for."""

    name: str


def asking_server() -> MCPServer:
    """Its tool asks by the call that exists in the older era alone."""
    server = MCPServer("asking")

    @server.tool()
    async def greet(ctx: Context) -> str:
        """Ask for a name and greet."""
        answer = await ctx.elicit("Who are you?", Name)
        return f"Hello {answer.data.name}" if answer.action == "accept" else "Hello"

    return server


async def answer(context, params) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ada"})


async def test_an_older_client_is_asked_by_a_server_that_we_speak_the_newer_era_with(serve, crib):
    listening, url = listening_socket()
    async with serving(asking_server().streamable_http_app(), listening, lifespan=True):
        crib.entry("asking", {"type": "http", "url": f"{url}/mcp"})
        async with serve() as (host, address):
            await host.ready()
            assert host.servers.status("asking").era == "2026-07-28"
            front = streamable_http_client(address)
            async with Client(front, mode="legacy", elicitation_callback=answer) as client:
                result = await client.call_tool("asking__greet", {})
                assert result.content[0].text == "Hello Ada"
            assert len(host.servers.statuses()) == 1

"""A client's token opens the gateway and nothing else: no server behind it ever sees it."""

from __future__ import annotations

import httpx2
import pytest
from mcp.server import MCPServer

from tests.asgi_server import serving
from tests.gateway.speaking import ACCEPT, DEADLINE, Speaker, bearer
from tests.servers.signin.issuer import listening_socket
from toolcrib.config.tokens import hash_token, new_token

UPSTREAM = "Bearer token-of-the-entry"


@pytest.fixture
async def client():
    async with httpx2.AsyncClient(trust_env=False, headers=ACCEPT, timeout=DEADLINE) as client:
        yield client


async def test_a_clients_token_is_not_passed_on_to_a_server(serve, crib, client):
    seen: list[dict[str, str]] = []
    server = MCPServer("upstream")

    @server.tool()
    def echo(text: str) -> str:
        """Return the text."""
        return text

    app = server.streamable_http_app()

    async def recording(scope, receive, send):
        if scope["type"] == "http":
            seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await app(scope, receive, send)

    token = new_token()
    listening, upstream = listening_socket()
    async with serving(recording, listening, lifespan=True):
        crib.entry("up", {"type": "http", "url": f"{upstream}/mcp", "headers": {"Authorization": UPSTREAM}})
        crib.setting(gateway={"tokenHash": hash_token(token)})
        async with serve() as (host, url):
            await host.ready()
            speaker = Speaker(client, url, **bearer(token), Cookie="session=of-the-client")
            answer = await speaker.modern("tools/call", name="up__echo", arguments={"text": "hello"})
            assert answer.json()["result"]["content"][0]["text"] == "hello"

    assert {headers["authorization"] for headers in seen} == {UPSTREAM}
    assert token not in str(seen)
    assert "of-the-client" not in str(seen)


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/authorize",
        "/register",
        "/token",
    ],
)
async def test_the_gateway_signs_nobody_in_to_the_servers_behind_it(serve, client, path):
    """Without a sign-in of its own, no client can misuse one that the user gave to another client."""
    async with serve() as (_, url):
        for method in ("GET", "POST"):
            answer = await client.request(method, url.replace("/mcp", path), follow_redirects=False)
            assert answer.status_code in (401, 404, 405)

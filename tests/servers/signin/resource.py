"""An MCP server that demands a sign-in and names its issuer as a test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import httpx2

from tests.servers.remote.scripted import Call, Reply, scripted

Answer = Callable[[Call, Reply], Awaitable[None]]
TOKEN = "token-of-the-issuer"


@dataclass
class Resource:
    """Both the server and, under /issuer, an issuer; every path and body that arrived is kept."""

    url: str = ""
    challenge: str = ""
    """The address of its metadata in the 401 response."""
    issuer: str = ""
    """As its metadata names it."""
    metadata: dict[str, object] = field(default_factory=dict)
    """Replaces parts of the issuer's metadata."""
    calls: list[Call] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    """Replaces the answer at a path, or at every path that begins like this."""

    @property
    def targets(self) -> list[str]:
        return [call.target for call in self.calls]

    @property
    def origin(self) -> str:
        return self.url.removesuffix("/mcp")

    async def answer(self, call: Call, reply: Reply) -> None:
        self.calls.append(call)
        path = call.target.partition("?")[0]
        other = next((answer for start, answer in self.answers.items() if path.startswith(start)), None)
        if path == "/mcp":
            await self._server(call, reply)
        elif other is not None:
            await other(call, reply)
        elif path.startswith("/.well-known/oauth-protected-resource"):
            await reply.json({"resource": self.url, "authorization_servers": [self.issuer]})
        elif path == "/.well-known/oauth-authorization-server":
            await reply.json(self._metadata())
        elif path == "/register":
            await reply.json({"client_id": "registered", "redirect_uris": _uris(call)}, 201)
        elif path == "/token":
            await reply.json({"access_token": TOKEN, "token_type": "Bearer", "scope": "tools"})
        else:
            await reply.send(404)

    async def _server(self, call: Call, reply: Reply) -> None:
        if call.headers.get("authorization") == f"Bearer {TOKEN}":
            await reply.result(call, {})
            return
        await reply.send(401, www_authenticate=f'Bearer resource_metadata="{self.challenge}"')

    def _metadata(self) -> dict[str, object]:
        return {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            **self.metadata,
        }


def _uris(call: Call) -> object:
    return call.message["redirect_uris"]


@asynccontextmanager
async def resource(issuer: str = "", challenge: str = "") -> AsyncIterator[Resource]:
    """A running one; it is its own issuer unless another one is named."""
    made = Resource()
    async with scripted(made.answer) as server:
        made.url = server.url
        made.issuer = issuer or made.origin
        made.challenge = challenge or f"{made.origin}/.well-known/oauth-protected-resource/mcp"
        yield made


async def agree(address: str, issuer: str = "", **extra: str) -> None:
    """What an issuer's page does once the user agreed: redirect to our port with a code."""
    query = {key: values[0] for key, values in parse_qs(address.partition("?")[2]).items()}
    async with httpx2.AsyncClient(trust_env=False) as browser:
        await browser.get(query["redirect_uri"], params={"code": "code", "state": query["state"], **extra})

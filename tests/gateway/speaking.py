"""Requests of both eras as plain HTTP, and connections as plain as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

DEADLINE = 60.0
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


class Speaker:
    """Speaks to one address, with these headers."""

    def __init__(self, client: httpx2.AsyncClient, url: str, **headers: str) -> None:
        self.client = client
        self.url = url
        self.headers = headers
        self.session: dict[str, str] = {}

    async def modern(self, method: str, **params: Any) -> httpx2.Response:
        """A request that stands alone."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        target = params.get("name", params.get("uri"))
        named = {} if target is None else {"Mcp-Name": target}
        era = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **named}
        return await self.client.post(self.url, json=message, headers={**self.headers, **era})

    async def open(self) -> httpx2.Response:
        """Open a session of the legacy era."""
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = await self.client.post(self.url, json=message, headers=self.headers)
        if "mcp-session-id" in answer.headers:
            self.session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        return answer

    async def legacy(self, method: str, request_id: int = 1, **params: Any) -> httpx2.Response:
        """A request of the session."""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return await self.client.post(self.url, json=message, headers={**self.headers, **self.session})

    def stream(self) -> Any:
        """The session's stream of changes."""
        return self.client.stream("GET", self.url, headers={**self.headers, **self.session})

    async def names(self) -> list[str]:
        """The tools that are listed."""
        return [tool["name"] for tool in (await self.modern("tools/list")).json()["result"]["tools"]]


@asynccontextmanager
async def connection(url: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection on which a test says exactly what it wants."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def said(reader: asyncio.StreamReader) -> bytes:
    """All that is said until the other side closes."""
    async with asyncio.timeout(DEADLINE):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def eventually(look: Callable[[], Any]) -> None:
    """Until something is so."""
    async with asyncio.timeout(DEADLINE):
        while not look():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


async def until_called(speaker: Speaker, server: str, times: int) -> None:
    """Until so many calls have reached the testing server, without those that ask for it here."""
    asked = 0
    async with asyncio.timeout(DEADLINE):
        while True:
            answer = await speaker.modern("tools/call", name=f"{server}__count", arguments={})
            result = answer.json().get("result", {"isError": True})
            asked += not result["isError"]
            if not result["isError"] and int(result["content"][0]["text"]) - asked >= times:
                return
            await asyncio.sleep(0.05)


async def until_listed(client: Any, name: str) -> None:
    """Until the official client lists a tool: a server that is still starting has none yet."""
    async with asyncio.timeout(DEADLINE):
        while name not in [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]:
            pass

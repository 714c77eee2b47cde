"""A client for each way of talking to a gateway, light enough not to be what is measured."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from benchmarks.gateway.connection import Pool, Response
from benchmarks.gateway.contract import MODERN, Way

ACCEPT = {"Accept": "application/json, text/event-stream"}
INFO = {"name": "benchmark", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Failed(Exception):
    """The gateway did not do what it was asked for; the text is its own."""


class Client(Protocol):
    """A client that is connected."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of a tool's result; raises `Failed`."""

    async def tools(self) -> list[str]:
        """The names of all tools; raises `Failed`."""


class _JsonRpc:
    """What all but REST have in common."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._ids = itertools.count(1)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result["content"])
        if result.get("isError"):
            raise Failed(text)
        return text

    async def tools(self) -> list[str]:
        names: list[str] = []
        page: dict[str, Any] = {}
        while True:
            result = await self.ask("tools/list", page)
            names += [tool["name"] for tool in result["tools"]]
            if not result.get("nextCursor"):
                return names
            page = {"cursor": result["nextCursor"]}

    async def open(self, version: str) -> None:
        """The opening of the older era."""
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": INFO}
        await self.ask("initialize", params)
        await self.tell("notifications/initialized")

    async def tell(self, method: str) -> None:
        raise NotImplementedError


class Streamable(_JsonRpc):
    """Streamable HTTP with a session, 2025-11-25."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._headers = dict(ACCEPT)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        response = await self._post(message, self._headers)
        if method == "initialize" and (session := response.headers.get(b"mcp-session-id")):
            self._headers |= {"Mcp-Session-Id": session.decode(), "MCP-Protocol-Version": "2025-11-25"}
        return _result(_message(response, number))

    async def tell(self, method: str) -> None:
        await self._post({"jsonrpc": "2.0", "method": method}, self._headers)

    async def leave(self) -> None:
        """Give the session back, as a good client does."""
        with contextlib.suppress(OSError):
            await self._pool.request(self._pool.head("DELETE", self._pool.address.path, self._headers, None))

    async def _post(self, message: dict[str, Any], headers: dict[str, str]) -> Response:
        body = json.dumps(message).encode()
        head = self._pool.head("POST", self._pool.address.path, headers, len(body))
        return await self._pool.request(head + body)


class Modern(Streamable):
    """Streamable HTTP without a session, 2026-07-28: each request stands alone."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        whole = {**params, "_meta": META}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": whole}
        headers = {**ACCEPT, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        return _result(_message(await self._post(message, headers), number))


class Sse(_JsonRpc):
    """The transport before: requests are posted, answers come on one stream."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._unread = b""
        self._path: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def listen(self) -> None:
        """Open the stream, which names the path to post to."""
        stream = await self._pool.open()
        head = self._pool.head("GET", self._pool.address.path, {"Accept": "text/event-stream"}, None)
        response = await stream.request(head, self._hear)
        if response.status != 200:
            raise Failed(f"HTTP {response.status}")

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        self._waiting[number] = answer = asyncio.get_running_loop().create_future()
        try:
            await self._post({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return _result(await answer)
        finally:
            del self._waiting[number]

    async def tell(self, method: str) -> None:
        await self._post({"jsonrpc": "2.0", "method": method})

    async def _post(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        head = self._pool.head("POST", await asyncio.shield(self._path), {}, len(body))
        response = await self._pool.request(head + body)
        if response.status not in (200, 202):
            raise Failed(f"HTTP {response.status}: {response.body[:200].decode(errors='replace')}")

    def _hear(self, data: bytes) -> None:
        *events, self._unread = (self._unread + data).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in events:
            lines = dict(line.split(b": ", 1) for line in event.split(b"\n") if b": " in line)
            if lines.get(b"event") == b"endpoint" and not self._path.done():
                self._path.set_result(lines[b"data"].decode())
            elif b"data" in lines:
                message = json.loads(lines[b"data"])
                waiting = self._waiting.get(message.get("id"))
                if waiting is not None and "method" not in message and not waiting.done():
                    waiting.set_result(message)


class Rest:
    """mcpo's way: a tool is a path, the list an OpenAPI description."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        body = json.dumps(arguments).encode()
        head = self._pool.head("POST", f"{self._pool.address.path}/{tool}", {}, len(body))
        return str(json.loads(_whole(await self._pool.request(head + body))))

    async def tools(self) -> list[str]:
        head = self._pool.head("GET", f"{self._pool.address.path}/openapi.json", {}, None)
        described = json.loads(_whole(await self._pool.request(head)))
        return [path.removeprefix("/") for path in described.get("paths", {})]


@asynccontextmanager
async def connect(way: Way, url: str) -> AsyncIterator[Client]:
    """A client that has opened; raises `Failed` or `OSError` when it cannot."""
    async with Pool(url) as pool:
        if way == "rest":
            yield Rest(pool)
        elif way == MODERN:
            yield Modern(pool)
        elif way == "sse":
            old = Sse(pool)
            await old.listen()
            await old.open("2025-06-18")
            yield old
        else:
            client = Streamable(pool)
            await client.open("2025-11-25")
            try:
                yield client
            finally:
                await client.leave()


def _whole(response: Response) -> bytes:
    if response.status != 200:
        raise Failed(f"HTTP {response.status}: {response.body[:200].decode(errors='replace')}")
    return response.body


def _message(response: Response, number: int) -> dict[str, Any]:
    """The answer to a request: the body itself, or the event of its stream that has the request's id."""
    if not response.headers.get(b"content-type", b"").startswith(b"text/event-stream"):
        return dict(json.loads(_whole(response)))
    for line in _whole(response).splitlines():
        if line.startswith(b"data:") and len(line) > len("data: "):
            message = json.loads(line[5:])
            if message.get("id") == number and "method" not in message:
                return dict(message)
    raise Failed("The stream ended without an answer.")


def _result(message: dict[str, Any]) -> dict[str, Any]:
    if "error" in message:
        raise Failed(str(message["error"].get("message")))
    return dict(message["result"])

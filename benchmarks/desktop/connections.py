"""Connections to peers: MCP over stdio, and the command endpoint of cua's server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from benchmarks.desktop.contract import PeerFailed

LINE_LIMIT = 64 * 1024 * 1024
START_PATIENCE = 90.0


class StdioConnection:
    """A client of an MCP server; also of a worker that answers `tools/call` in the same way."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._numbers = itertools.count(1)
        self.pid = process.pid

    async def initialize(self) -> None:
        await self._request(
            "initialize",
            {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "1"},
            },
        )
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return await self._request("tools/call", {"name": tool, "arguments": arguments})

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == number:
                if "error" in message:
                    raise PeerFailed(str(message["error"])[:300])
                found: dict[str, Any] = message["result"]
                return found
        raise PeerFailed("The server has ended.")

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()


@contextlib.asynccontextmanager
async def stdio(command: Sequence[str], environment: Mapping[str, str]) -> AsyncIterator[StdioConnection]:
    async with _process(command, environment) as process:
        connection = StdioConnection(process)
        async with asyncio.timeout(START_PATIENCE):
            await connection.initialize()
        yield connection


class CommandConnection:
    """Posts commands to cua's server, which answers with one event."""

    def __init__(self, pid: int, address: str) -> None:
        self.pid = pid
        self._address = address

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await asyncio.to_thread(self._post, {"command": tool, "params": arguments})
        if "image_data" in answer:
            return {"content": [{"type": "image", "data": answer["image_data"]}]}
        text = json.dumps(answer)
        return {"content": [{"type": "text", "text": text}], "isError": not answer.get("success")}

    def _post(self, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(  # noqa: S310 - loopback
            f"{self._address}/cmd", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
            events = response.read().decode().removeprefix("data: ").strip()
        found: dict[str, Any] = json.loads(events)
        return found

    def is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self._address}/status", timeout=2):  # noqa: S310
                return True
        except (urllib.error.URLError, OSError):
            return False


@contextlib.asynccontextmanager
async def commands(
    program: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[CommandConnection]:
    """Start a server with `--host` and `--port`, and wait until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*program, "--host", "127.0.0.1", "--port", str(port)]
    async with _process(command, environment) as process:
        connection = CommandConnection(process.pid, f"http://127.0.0.1:{port}")
        async with asyncio.timeout(START_PATIENCE):
            while not await asyncio.to_thread(connection.is_up):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        yield connection


@contextlib.asynccontextmanager
async def _process(
    command: Sequence[str], environment: Mapping[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *command,
        env=dict(environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LINE_LIMIT,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

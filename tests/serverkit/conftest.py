"""A raw client for servers that run as processes: lines of JSON, nothing else."""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

DEADLINE = 60.0
PROGRAM = Path(__file__).parent / "programs" / "workbench.py"


class RawClient:
    """Talks to one process; `stray` collects what came while waiting for something else."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.stray: list[dict[str, Any]] = []
        self._ids = itertools.count(1)

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    def say(self, message: Any) -> None:
        self.write(json.dumps(message).encode())

    def ask(self, method: str, params: dict[str, Any] | None = None) -> int:
        request_id = next(self._ids)
        self.say({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        return request_id

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(DEADLINE):
            line = await self.process.stdout.readline()
        assert line, "the server closed its output"
        message: dict[str, Any] = json.loads(line)
        return message

    async def hear_until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message = await self.hear()
            if wanted(message):
                return message
            self.stray.append(message)

    async def answer(self, request_id: int) -> dict[str, Any]:
        return await self.hear_until(lambda message: message.get("id") == request_id)

    async def open_legacy(self, version: str = "2025-06-18") -> dict[str, Any]:
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        answer = await self.answer(self.ask("initialize", params))
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    async def call(self, name: str, arguments: dict[str, Any], **meta: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments, "_meta": meta}
        answer = await self.answer(self.ask("tools/call", params))
        result: dict[str, Any] = answer["result"]
        return result

    async def ended(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        async with asyncio.timeout(DEADLINE):
            return await self.process.wait()


@asynccontextmanager
async def _launched(*command: str, **options: Any) -> AsyncIterator[RawClient]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=256 * 1024 * 1024,
        **options,
    )
    try:
        yield RawClient(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.fixture
async def workspace_tools() -> AsyncIterator[Callable[..., Awaitable[RawClient]]]:
    """Starts the test server of `programs/workbench.py`."""
    async with AsyncExitStack() as stack:

        async def start(*arguments: str) -> RawClient:
            command = (sys.executable, str(PROGRAM), *arguments)
            return await stack.enter_async_context(_launched(*command))

        yield start

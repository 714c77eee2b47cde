"""The floor: a bare asyncio pipe protocol with JSON in and out, and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

from benchmarks.contract import Call, Suite, Target

TITLE = "asyncio pipe (floor)"
SUITE: Suite = "stdio"
ROLE = "floor"
LOOP: Literal["asyncio", "uvloop"] = "asyncio"


class Pipe(asyncio.SubprocessProtocol):
    """Hands each line of the process to the future that waits for it."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[Any]] = {}
        self._parts: list[bytes] = []

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if b"\n" not in data:
            self._parts.append(data)
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._receive(b"".join([*self._parts, line]))
            self._parts = []
        if rest:
            self._parts.append(rest)

    def _receive(self, line: bytes) -> None:
        message = json.loads(line)
        self.waiting.pop(message["id"]).set_result(message["result"])


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """One process, one protocol."""
    loop = asyncio.get_running_loop()
    transport, pipe = await loop.subprocess_exec(Pipe, *target.command, stderr=None)
    stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
    number = 0

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        answer = pipe.waiting[number] = loop.create_future()
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        stdin.write(json.dumps(message).encode() + b"\n")
        return await answer

    try:
        yield call
    finally:
        transport.kill()
        transport.close()

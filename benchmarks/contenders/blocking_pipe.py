"""A blocking pipe: what the machine itself can do."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from benchmarks.contract import Call, Suite, Target

TITLE = "blocking pipe"
SUITE: Suite = "stdio"
ROLE = ""
LOOP: Literal["asyncio"] = "asyncio"


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """One process; each call writes a line and waits for a line."""
    process = subprocess.Popen(target.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert process.stdin is not None
    assert process.stdout is not None
    write, flush, read = process.stdin.write, process.stdin.flush, process.stdout.readline
    number = 0

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        write(json.dumps(message).encode() + b"\n")
        flush()
        return json.loads(read())["result"]

    try:
        yield call
    finally:
        process.stdin.close()
        process.wait()

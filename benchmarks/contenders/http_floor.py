"""The floor over HTTP: a request written by hand on one kept connection, JSON in and out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from benchmarks.contract import Call, Suite, Target

TITLE = "bare HTTP (floor)"
SUITE: Suite = "http"
ROLE = "floor"
LOOP: Literal["asyncio"] = "asyncio"


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """One connection, one request at a time."""
    address = urlsplit(target.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 20)
    head = (
        "POST {0.path} HTTP/1.1",
        "Host: {0.netloc}",
        "Content-Type: application/json",
        "Content-Length: ",
    )
    start = "\r\n".join(head).format(address).encode()
    number = 0

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        nonlocal number
        number += 1
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        writer.write(start + b"%d\r\n\r\n%b" % (len(body), body))
        told = await reader.readuntil(b"\r\n\r\n")
        length = int(told.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return json.loads(await reader.readexactly(length))["result"]

    try:
        yield call
    finally:
        writer.close()

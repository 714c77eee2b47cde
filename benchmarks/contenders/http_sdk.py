"""The official SDK's client over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from benchmarks.contract import Call, Suite, Target

TITLE = "SDK client"
SUITE: Suite = "http"
ROLE = "sdk"
LOOP: Literal["asyncio"] = "asyncio"


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """As its documentation shows it."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async with Client(streamable_http_client(target.url)) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Any:
            return await client.call_tool(tool, arguments)

        yield call

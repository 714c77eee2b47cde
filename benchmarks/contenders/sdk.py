"""The official SDK's client over its own stdio transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from benchmarks.contract import Call, Suite, Target

TITLE = "SDK client"
SUITE: Suite = "stdio"
ROLE = "sdk"
LOOP: Literal["asyncio"] = "asyncio"


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """As its documentation shows it."""
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    program, *arguments = target.command
    async with Client(stdio_client(StdioServerParameters(command=program, args=arguments))) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Any:
            return await client.call_tool(tool, arguments)

        yield call

"""fastmcp's client, which builds on the SDK's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

from benchmarks.contract import Call, Suite, Target

TITLE = "fastmcp client"
SUITE: Suite = "stdio"
ROLE = ""
LOOP: Literal["asyncio"] = "asyncio"


@asynccontextmanager
async def connect(target: Target) -> AsyncIterator[Call]:
    """As its documentation shows it."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    program, *arguments = target.command
    async with Client(StdioTransport(program, arguments)) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Any:
            return await client.call_tool(tool, arguments)

        yield call

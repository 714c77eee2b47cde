"""Runs a Python function as a tool call, with its timeout (and the error message for it) and cancellation.
Has the options of the tool decorators.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol, TypedDict

from toolcrib.errors import CallTimeout
from toolcrib.schema.tools import ToolCall, ToolResult
from toolcrib.serverkit import caller_context
from toolcrib.serverkit.context import ToolContext
from toolcrib.tools.ports import OnProgress

_SILENT = ToolContext()


class FunctionOptions(TypedDict, total=False):
    """Options of the `tool` decorators, in addition to the function's signature."""

    name: str | None
    title: str | None
    description: str | None
    read_only: bool
    destructive: bool | None
    idempotent: bool
    open_world: bool | None
    quick: bool


class CallableTool(Protocol):
    """What an inline tool offers: usually a `FunctionTool`."""

    name: str
    definition: dict[str, Any]

    async def call(self, arguments: Mapping[str, Any], context: ToolContext | None = None) -> ToolResult:
        """Run it; a failure is a result with `isError`, only cancellation is raised."""


async def run_function(function: CallableTool, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
    """The function's result; raises `CallTimeout` when it takes too long."""
    context = _SILENT if on_progress is None else ToolContext(on_progress=on_progress)
    if call.principal.session is not None:
        token = caller_context.session.set(call.principal.session)
        try:
            return await _run(function, call, context)
        finally:
            caller_context.session.reset(token)
    return await _run(function, call, context)


async def _run(function: CallableTool, call: ToolCall, context: ToolContext) -> ToolResult:
    if call.timeout is None:
        return await function.call(call.arguments, context)
    try:
        async with asyncio.timeout(call.timeout):
            return await function.call(call.arguments, context)
    except TimeoutError:
        raise CallTimeout(
            f"{call.tool.name} did not answer within {call.timeout:g} seconds.",
            hint="Request less at once, or set a longer timeout.",
        ) from None

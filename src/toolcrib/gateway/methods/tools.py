"""Tools: listed from the registry through the profile, called as every tool call is."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.gateway.bridge import RelayedCall
from toolcrib.gateway.client import GatewayClient, adapted, relay
from toolcrib.gateway.wire import Wire, completed
from toolcrib.schema.tools import Tool, ToolResult
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request, is_request_id, notification
from toolcrib.tools.ports import OnProgress
from toolcrib.tools.results import as_result


async def list_tools(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    if request.params.get("cursor") is not None:
        raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
    gateway = client.gateway
    await gateway.tools_known()

    def make() -> dict[str, Any]:
        tools = {"tools": gateway.definitions()}
        return completed({**tools, "ttlMs": 0, "cacheScope": "private"}) if request.modern else tools

    return await gateway.tool_lists.page(
        gateway.host.toolset.registry.snapshot, gateway.profile, make, modern=request.modern
    )


async def call_tool(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    """Call a tool. A failure is a result, which the model reads and can act on, as with the official servers;
    only an invalid request is an error."""
    name, arguments = request.params.get("name"), request.params.get("arguments")
    if not isinstance(name, str):
        raise Refusal(INVALID_PARAMS, "The name of the tool is missing.")

    try:
        call = _visible_call if client.gateway.search is None else _searched_call
        work = partial(call, client, request, name, arguments)
        return adapted(request, await relay(client, request, wire, work))
    except PeerError as error:
        raise Refusal(error.code, error.message, error.data) from None
    except ToolcribError as error:
        return as_result(error)


async def _searched_call(
    client: GatewayClient, request: Request, name: str, arguments: Any, call: RelayedCall
) -> ToolResult:
    """Call a search tool, or one that is listed besides them."""

    async def call_visible(tool: str, given: Any) -> ToolResult:
        return await _visible_call(client, request, tool, given, call)

    search = client.gateway.search
    found = None if search is None else await search.call(name, arguments or {}, call_visible)
    return await call_visible(name, arguments) if found is None else found


async def _visible_call(
    client: GatewayClient, request: Request, name: str, arguments: Any, call: RelayedCall
) -> ToolResult:
    gateway = client.gateway
    tool = gateway.find(name) or await _awaited_tool(client, name, arguments)
    on_progress = _progress(request, call) if "progressToken" in request.meta else None
    logs = gateway.logs
    listeners = logs.join(tool.server, call)
    try:
        result = await gateway.host.toolset.caller.call(
            tool.name, arguments, principal=client.principal, on_progress=on_progress
        )
        if logs.events.behind:
            await logs.catch_up(call)
    finally:
        listeners.discard(call)
    return result


async def _awaited_tool(client: GatewayClient, name: str, arguments: Any) -> Tool:
    """The tool, once its server has started; a call that ends before is recorded here."""
    gateway, refuse = client.gateway, client.gateway.host.toolset.caller.refuse
    try:
        tool = await gateway.find_soon(name)
    except asyncio.CancelledError:
        refuse(name, arguments, client.principal, None)
        raise
    if tool is None:
        error = gateway.missing(name)
        refuse(name, arguments, client.principal, error)
        raise error
    return tool


def _progress(request: Request, call: RelayedCall) -> OnProgress | None:
    """Forwards progress to a client that gave a token for it."""
    token = request.meta["progressToken"]
    if not is_request_id(token):
        return None

    def report(done: float, total: float | None, message: str | None) -> None:
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        call.wire.notify(notification("notifications/progress", params))

    return report


METHODS = {"tools/list": list_tools, "tools/call": call_tool}

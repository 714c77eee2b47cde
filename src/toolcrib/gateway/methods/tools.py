"""Tools: listed from the registry through the profile, called through the one door."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.gateway.bridge import RelayedCall
from toolcrib.gateway.relay import completed, fitted, relay
from toolcrib.gateway.wire import Wire
from toolcrib.schema.tools import ToolResult
from toolcrib.serverkit.protocol import INVALID_PARAMS, Refusal, Request, is_request_id, notification
from toolcrib.tools.answers import as_result
from toolcrib.tools.ports import OnProgress

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front


async def list_tools(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """All of them on one page: the registry has them at hand."""
    if request.params.get("cursor") is not None:
        raise Refusal(INVALID_PARAMS, "Invalid cursor: the list has one page.")
    gateway = front.gateway
    await gateway.tools_known()

    def make() -> dict[str, Any]:
        tools = {"tools": gateway.definitions()}
        return completed({**tools, "ttlMs": 0, "cacheScope": "private"}) if request.modern else tools

    return gateway.listing.page(gateway.host.registry.snapshot, gateway.profile, make, modern=request.modern)


async def call_tool(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Call one; a failure is a result that a model can read, so that it can mend a wrong name or argument too
    (as with the official servers), except where the request itself is wrong."""
    name, arguments = request.params.get("name"), request.params.get("arguments")
    if not isinstance(name, str):
        raise Refusal(INVALID_PARAMS, "The name of the tool is missing.")

    try:
        call = _visible_call if front.gateway.search is None else _searched_call
        work = partial(call, front, request, name, arguments)
        return fitted(request, await relay(front, request, wire, work))
    except PeerError as error:
        raise Refusal(error.code, error.message, error.data) from None
    except ToolcribError as error:
        return as_result(error)


async def _searched_call(
    front: Front, request: Request, name: str, arguments: Any, call: RelayedCall
) -> ToolResult:
    """Through the tools to search with, or one of those that are listed beside them."""

    async def through_the_door(tool: str, given: Any) -> ToolResult:
        return await _visible_call(front, request, tool, given, call)

    search = front.gateway.search
    found = None if search is None else await search.call(name, arguments or {}, through_the_door)
    return await through_the_door(name, arguments) if found is None else found


async def _visible_call(
    front: Front, request: Request, name: str, arguments: Any, call: RelayedCall
) -> ToolResult:
    gateway = front.gateway
    tool = gateway.find(name) or await gateway.find_soon(name)
    if tool is None:
        error = gateway.missing(name)
        gateway.host.caller.refuse(name, arguments, front.principal, error)
        raise error
    on_progress = _progress(request, call) if "progressToken" in request.meta else None
    logs = gateway.logs
    hearers = logs.join(tool.server, call)
    try:
        result = await gateway.host.caller.call(
            tool.name, arguments, principal=front.principal, on_progress=on_progress
        )
        if logs.events.behind:
            await logs.last_words(call)
    finally:
        hearers.discard(call)
    return result


def _progress(request: Request, call: RelayedCall) -> OnProgress | None:
    """Passes progress on to a client that gave a token for it."""
    token = request.meta["progressToken"]
    if not is_request_id(token):
        return None

    def report(done: float, total: float | None, message: str | None) -> None:
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        call.wire.tell(notification("notifications/progress", params))

    return report


METHODS = {"tools/list": list_tools, "tools/call": call_tool}

"""Resources of all servers under their own URIs, read from their servers: which ones are asked and for how
long, "not found" errors, and cache hints."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.gateway.client import GatewayClient, adapted, as_refusal, forward
from toolcrib.gateway.definitions import RESOURCES, TEMPLATES
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, Refusal, Request
from toolcrib.servers.sessions.session import Session

LEGACY_NOT_FOUND = -32002
NOT_FOUND = frozenset({LEGACY_NOT_FOUND, INVALID_PARAMS, METHOD_NOT_FOUND, 0})
"""Codes with which servers report an unknown resource."""
ASK_AROUND = 5.0
"""Seconds that each server has to answer for a resource that none lists."""


async def list_resources(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    return await client.gateway.page(RESOURCES, request)


async def list_templates(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    return await client.gateway.page(TEMPLATES, request)


async def read(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    """Read it from the server that lists it, else from those with a matching template, else from any."""
    uri = _uri(request)
    found = await client.gateway.find_listed(RESOURCES, uri)
    likely = [found[0]] if found is not None else await client.gateway.catalog.matching(uri)
    failure: ToolcribError | None = None
    for server in likely:
        try:
            return _cacheable(request, await forward(client, request, wire, server))
        except ToolcribError as error:
            if not _is_unknown(error):
                failure = failure or error
    result = await _ask_around(client.gateway, uri, likely) if found is None and failure is None else None
    if result is not None:
        return _cacheable(request, adapted(request, result))
    raise _not_found(request, uri) if failure is None else as_refusal(failure)


async def subscribe(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    uri = _uri(request)
    server = await client.gateway.subscribable(uri)
    if server is None:
        raise _not_found(request, uri, "No server supports subscriptions to this resource")
    try:
        if not await client.gateway.subscriptions.join(client.channel, server, uri):
            raise Refusal(INVALID_PARAMS, "Too many subscriptions.")
    except ToolcribError as error:
        raise as_refusal(error) from None
    return {}


async def unsubscribe(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    client.gateway.subscriptions.leave(client.channel, _uri(request))
    return {}


async def _ask_around(gateway: Gateway, uri: str, asked: list[str]) -> dict[str, Any] | None:
    """The result of the first server by name that has it; all are asked concurrently."""
    sessions = [session for session in gateway.catalog.sessions("resources") if session.server not in asked]
    answers = await asyncio.gather(*(_try(session, uri) for session in sessions))
    return next((answer for answer in answers if answer is not None), None)


async def _try(session: Session, uri: str) -> dict[str, Any] | None:
    try:
        result = await session.request("resources/read", {"uri": uri}, timeout=ASK_AROUND)
    except ToolcribError:
        return None
    return result if result.get("contents") else None


def _cacheable(request: Request, result: dict[str, Any]) -> dict[str, Any]:
    """With the cache hints of its server, or hints that forbid caching; none are kept of a result with
    input."""
    if not request.modern or result.get("resultType") == "input_required":
        return result
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    answered = "requestState" in request.params or "inputResponses" in request.params
    cacheable = isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 and not answered
    shared = scope == "public" and not answered
    return {**result, "ttlMs": ttl if cacheable else 0, "cacheScope": "public" if shared else "private"}


def _is_unknown(error: ToolcribError) -> bool:
    return isinstance(error, PeerError) and error.code in NOT_FOUND


def _not_found(request: Request, uri: str, text: str = "Resource not found") -> Refusal:
    code = INVALID_PARAMS if request.modern else LEGACY_NOT_FOUND
    return Refusal(code, f"{text}: {uri}", {"uri": uri})


def _uri(request: Request) -> str:
    uri = request.params.get("uri")
    if not isinstance(uri, str):
        raise Refusal(INVALID_PARAMS, "The uri of the resource is missing.")
    return uri


METHODS = {
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
}

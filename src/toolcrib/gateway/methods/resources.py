"""Resources: those of all servers under their own URIs, read from the server that has them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from toolcrib.errors import PeerError, ToolcribError
from toolcrib.gateway.kinds import RESOURCES, TEMPLATES
from toolcrib.gateway.relay import as_refusal, fitted, pass_on
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, Refusal, Request
from toolcrib.servers.sessions.session import Session

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front
    from toolcrib.gateway.gateway import Gateway

LEGACY_NOT_FOUND = -32002
NOT_FOUND = frozenset({LEGACY_NOT_FOUND, INVALID_PARAMS, METHOD_NOT_FOUND, 0})
"""What servers of all ages answer when they do not have a resource."""
ASK_AROUND = 5.0
"""Seconds that each server has to say whether it knows a resource that nobody lists."""


async def list_resources(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """All of them on one page."""
    return await front.gateway.page(RESOURCES, request)


async def list_templates(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """All of them on one page."""
    return await front.gateway.page(TEMPLATES, request)


async def read(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """From the server that lists it, else from those whose templates fit, else from any that has it."""
    uri = _uri(request)
    found = await front.gateway.find_listed(RESOURCES, uri)
    likely = [found[0]] if found is not None else await front.gateway.catalog.matching(uri)
    failure: ToolcribError | None = None
    for server in likely:
        try:
            return _cacheable(request, await pass_on(front, request, wire, server))
        except ToolcribError as error:
            if not _is_unknown(error):
                failure = failure or error
    result = await _ask_around(front.gateway, uri, likely) if found is None and failure is None else None
    if result is not None:
        return _cacheable(request, fitted(request, result))
    raise _not_found(request, uri) if failure is None else as_refusal(failure)


async def subscribe(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Tell this client when a resource changes."""
    uri = _uri(request)
    server = await front.gateway.watchable(uri)
    if server is None:
        raise _not_found(request, uri, "No server tells of changes of this resource")
    try:
        if not await front.gateway.watches.join(front.channel, server, uri):
            raise Refusal(INVALID_PARAMS, "Too many resources are subscribed to.")
    except ToolcribError as error:
        raise as_refusal(error) from None
    return {}


async def unsubscribe(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Do not any more."""
    front.gateway.watches.leave(front.channel, _uri(request))
    return {}


async def _ask_around(gateway: Gateway, uri: str, asked: list[str]) -> dict[str, Any] | None:
    """The answer of the first server by name that has it; all are asked at once."""
    sessions = [one for one in gateway.catalog.sessions("resources") if one.server not in asked]
    answers = await asyncio.gather(*(_try(session, uri) for session in sessions))
    return next((answer for answer in answers if answer is not None), None)


async def _try(session: Session, uri: str) -> dict[str, Any] | None:
    try:
        result = await session.request("resources/read", {"uri": uri}, timeout=ASK_AROUND)
    except ToolcribError:
        return None
    return result if result.get("contents") else None


def _cacheable(request: Request, result: dict[str, Any]) -> dict[str, Any]:
    """With how long it stays the same and for whom, as its server says; else for no time, and nobody else."""
    if not request.modern or result.get("resultType") == "input_required":
        return result
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    answered = "requestState" in request.params or "inputResponses" in request.params
    sound = isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 and not answered
    shared = scope == "public" and not answered
    return {**result, "ttlMs": ttl if sound else 0, "cacheScope": "public" if shared else "private"}


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

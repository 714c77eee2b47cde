"""Runs work on behalf of a client, which may have to come back with input; and adapts results and errors of a
server to the client's era."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from toolcrib.errors import PeerError, ToolcribError, UsageError
from toolcrib.gateway.bridge import RelayedCall, is_signed
from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INTERNAL_ERROR, INVALID_PARAMS, SERVER_INFO, Refusal, Request
from toolcrib.servers.sessions.handlers import relayed_client
from toolcrib.tools.results import ERROR_NOTE

Result = dict[str, Any]
OURS = frozenset({"_meta", "inputResponses", "requestState"})
"""Parameters that concern one connection only."""
_MODERN_KEYS = frozenset({"resultType", "ttlMs", "cacheScope"})


def relay(
    client: GatewayClient, request: Request, wire: Wire, work: Callable[[RelayedCall], Awaitable[Result]]
) -> Awaitable[Result]:
    """The result of the work, or the input that the client must give first.

    To be called and awaited in the task of the request, which then works on behalf of the client.
    """
    if request.modern and "requestState" in request.params and not is_signed(request.params["requestState"]):
        return _resume(client, request, wire)
    try:
        call = RelayedCall(client, request, wire)
    except UsageError as error:
        raise Refusal(INVALID_PARAMS, error.message) from None
    if call.may_wait:
        call.start(partial(work, call))
        return _settle(client, call)
    relayed_client.set(call)
    return work(call)


async def _resume(client: GatewayClient, request: Request, wire: Wire) -> Result:
    """A client comes back with input."""
    try:
        state = request.params["requestState"]
        call = client.gateway.waiting_calls.pop(state, client.principal, request)
        call.wire = wire
        call.answer(request.params.get("inputResponses"))
    except UsageError as error:
        raise Refusal(INVALID_PARAMS, error.message) from None
    return await _settle(client, call)


async def _settle(client: GatewayClient, call: RelayedCall) -> Result:
    """The result of a call, or the input that the client must give first."""
    result = await call.outcome()
    if result is not None:
        return result
    requests = call.input_requests()
    state = client.gateway.waiting_calls.add(call)
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


async def forward(
    client: GatewayClient, request: Request, wire: Wire, server: str, replaced: dict[str, Any] | None = None
) -> Result:
    """Forward a request to a server, with some of its parameters replaced."""
    params = {key: value for key, value in request.params.items() if key not in OURS} | (replaced or {})

    async def work(call: RelayedCall) -> Result:
        listeners = client.gateway.logs.join(server, call)
        try:
            result = await client.gateway.catalog.ask(server, request.method, params)
            await client.gateway.logs.catch_up(call)
        finally:
            listeners.discard(call)
        return adapted(request, result)

    return await relay(client, request, wire, work)


def adapted(request: Request, result: Result) -> Result:
    """A server's result for this client: without the server's name, and without fields of another era."""
    meta = result.get("_meta")
    named = isinstance(meta, dict) and SERVER_INFO in meta
    foreign = not request.modern and not _MODERN_KEYS.isdisjoint(result)
    if not named and not foreign:
        return result
    kept = {key: value for key, value in result.items() if not foreign or key not in _MODERN_KEYS}
    if named and isinstance(meta, dict):
        kept["_meta"] = {key: value for key, value in meta.items() if key != SERVER_INFO}
    return kept


def as_refusal(error: ToolcribError) -> Refusal:
    """One of our errors as a JSON-RPC error."""
    if isinstance(error, PeerError):
        return Refusal(error.code, error.message, error.data)
    note = {"kind": error.kind, "retryable": error.retryable}
    return Refusal(INTERNAL_ERROR, f"{error.message} {error.hint}".strip(), {ERROR_NOTE: note})

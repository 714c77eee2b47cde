"""Runs something on behalf of a client, which may have to come back with answers; and fits results and errors
of a server to the client's era."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.errors import PeerError, ToolcribError, UsageError
from toolcrib.gateway.bridge import RelayedCall
from toolcrib.gateway.gateway import INFO
from toolcrib.gateway.seals import is_sealed
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import INTERNAL_ERROR, INVALID_PARAMS, SERVER_INFO, Refusal, Request
from toolcrib.servers.sessions.relayed_client import behalf
from toolcrib.tools.answers import ERROR_NOTE

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front

Result = dict[str, Any]
OURS = frozenset({"_meta", "inputResponses", "requestState"})
"""Parameters that belong to one leg of the way alone."""
_MODERN_KEYS = frozenset({"resultType", "ttlMs", "cacheScope"})


def relay(
    front: Front, request: Request, wire: Wire, work: Callable[[RelayedCall], Awaitable[Result]]
) -> Awaitable[Result]:
    """The outcome of the work, or what the client is to be asked before it can go on.

    To be called, and waited for, in the task of the request, which then works for the client.
    """
    if request.modern and "requestState" in request.params and not is_sealed(request.params["requestState"]):
        return _resume(front, request, wire)
    try:
        call = RelayedCall(front, request, wire)
    except UsageError as error:
        raise Refusal(INVALID_PARAMS, error.message) from None
    if call.parks:
        call.start(partial(work, call))
        return _settle(front, call)
    behalf.set(call)
    return work(call)


async def _resume(front: Front, request: Request, wire: Wire) -> Result:
    """A client comes back with what was asked for."""
    try:
        call = front.gateway.parking.take(request.params["requestState"], front, request)
        call.wire = wire
        call.answer(request.params.get("inputResponses"))
    except UsageError as error:
        raise Refusal(INVALID_PARAMS, error.message) from None
    return await _settle(front, call)


async def _settle(front: Front, call: RelayedCall) -> Result:
    """The result of a call, or what the client is to be asked first."""
    result = await call.outcome()
    if result is not None:
        return result
    questions = call.questions()
    state = front.gateway.parking.park(call)
    return {"resultType": "input_required", "inputRequests": questions, "requestState": state}


async def pass_on(
    front: Front, request: Request, wire: Wire, server: str, replaced: dict[str, Any] | None = None
) -> Result:
    """Send a request on to a server, with its parameters but for those replaced."""
    params = {key: value for key, value in request.params.items() if key not in OURS} | (replaced or {})

    async def work(call: RelayedCall) -> Result:
        hearers = front.gateway.logs.join(server, call)
        try:
            result = await front.gateway.catalog.ask(server, request.method, params)
            await front.gateway.logs.last_words(call)
        finally:
            hearers.discard(call)
        return fitted(request, result)

    return await relay(front, request, wire, work)


def fitted(request: Request, result: Result) -> Result:
    """A server's result for this client: without what only the server's era knows, or who the server is."""
    ours = "_meta" not in result or not _names_server(result)
    if ours and (request.modern or _MODERN_KEYS.isdisjoint(result)):
        return result
    kept = {key: value for key, value in result.items() if request.modern or key not in _MODERN_KEYS}
    if _names_server(kept):
        kept["_meta"] = {key: value for key, value in kept["_meta"].items() if key != SERVER_INFO}
    return kept


def _names_server(result: Result) -> bool:
    meta = result.get("_meta")
    return isinstance(meta, dict) and SERVER_INFO in meta


def completed(result: Mapping[str, Any]) -> Result:
    """A result as a modern client gets it: it says that it is whole, and whose it is."""
    meta = {SERVER_INFO: INFO, **(result.get("_meta") or {})}
    return {"resultType": "complete", **result, "_meta": meta}


def as_refusal(error: ToolcribError) -> Refusal:
    """The JSON-RPC error that stands for ours."""
    if isinstance(error, PeerError):
        return Refusal(error.code, error.message, error.data)
    note = {"kind": error.kind, "retryable": error.retryable}
    return Refusal(INTERNAL_ERROR, f"{error.message} {error.hint}".strip(), {ERROR_NOTE: note})

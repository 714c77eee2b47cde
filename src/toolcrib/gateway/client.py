"""One client of the gateway, in either era of the protocol: how many of its requests run at once, which
methods each era has, and errors as JSON-RPC errors.

A modern request is independent; a legacy client opens with `initialize` and is remembered. Requests run
concurrently, and each can be cancelled. No failure of a server ends the client's connection.

Work on behalf of a client may have to wait for its input; results and errors of a server are adapted to its
era.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

from toolcrib import plugins
from toolcrib.errors import PeerError, ToolcribError, UsageError
from toolcrib.gateway.bridge import RelayedCall, is_signed
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.wire import Channel, Encoded, Wire, completed
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_ID,
    SERVER_INFO,
    Message,
    Refusal,
    Request,
    read_request,
    refuse,
)
from toolcrib.serverkit.session import RunningRequests
from toolcrib.servers.sessions.handlers import relayed_client
from toolcrib.telemetry.propagation import TRACEPARENT, carry
from toolcrib.tools.results import ERROR_NOTE

logger = logging.getLogger(__name__)

MAX_RUNNING = 256
"""Running requests of one client; more are refused."""
TOO_MANY = -32000

Handler = Callable[["GatewayClient", Request, Wire], Awaitable[Mapping[str, Any]]]

Result = dict[str, Any]
OURS = frozenset({"_meta", "inputResponses", "requestState"})
"""Parameters that concern one connection only."""
_MODERN_KEYS = frozenset({"resultType", "ttlMs", "cacheScope"})


class GatewayClient:
    """What the gateway knows of a client, and its running requests. A modern request makes one of its own."""

    version: str | None = None
    """The version negotiated by `initialize`; None before."""
    capabilities: Mapping[str, Any] = MappingProxyType({})
    """As a legacy client declared them."""
    log_level = "info"

    def __init__(self, gateway: Gateway, channel: Channel, principal: Principal) -> None:
        self.gateway = gateway
        self.channel = channel
        self.principal = principal
        self._running = RunningRequests()

    async def respond(self, message: Message, wire: Wire) -> Message | None:
        """The response to one message; None if it gets none."""
        if not isinstance(message.get("method"), str):
            return None if "result" in message or "error" in message else refuse(None, _INVALID)
        if "id" not in message:
            self._handle_notification(message)
            return None
        request_id = message["id"]
        if type(request_id) not in REQUEST_ID or request_id in self._running:
            return refuse(None, _INVALID)
        try:
            request = read_request(message, opened=self.version is not None)
            if len(self._running) >= MAX_RUNNING:
                raise Refusal(TOO_MANY, f"{MAX_RUNNING} requests are running; try again shortly.")
            handler = _handlers(request.modern).get(request.method)
            if handler is None:
                raise Refusal(METHOD_NOT_FOUND, f"Unknown method: {request.method}")
            if TRACEPARENT in request.meta:
                carry(request.meta)
            work = handler(self, request, wire)
            result = await self._running.outcome(request.id, work, self.gateway.loop)
            if result is None:
                return None
            if request.modern and type(result) is not Encoded:
                result = completed(result)
            return {"jsonrpc": "2.0", "id": request.id, "result": result}
        except Refusal as refusal:
            return refuse(request_id, refusal)
        except Exception:
            logger.exception("%s failed", message["method"])
            return refuse(request_id, Refusal(INTERNAL_ERROR, "Internal error; see the gateway's log."))

    def close(self) -> None:
        """The client is gone: nothing more is sent to it, and its requests are cancelled."""
        self.gateway.leave(self.channel)
        self._running.cancel_all()

    def end(self) -> None:
        """Close, and end the client's session with everything that was approved for it."""
        self.close()
        self.gateway.end_session(self.principal)

    def _handle_notification(self, message: Message) -> None:
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            self._running.cancel(params.get("requestId"))


_INVALID = Refusal(INVALID_REQUEST, "Not a JSON-RPC request with a method and an unused id.")
_MODERN_ONLY = frozenset({"server/discover", "subscriptions/listen"})
_LEGACY_ONLY = frozenset(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)


@cache
def _handlers(modern: bool) -> dict[str, Handler]:
    """The methods of all modules in the folder, as far as this era has them."""
    folder = "toolcrib.gateway.methods"
    other_era = _LEGACY_ONLY if modern else _MODERN_ONLY
    return {
        method: handler
        for name in plugins.names(folder)
        for method, handler in plugins.find(folder, name).METHODS.items()
        if method not in other_era
    }


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

"""One client of the gateway, in either era of the protocol.

A modern request is independent; a legacy client opens with `initialize` and is remembered. Requests run
concurrently, and each can be cancelled. No failure of a server ends the client's connection.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from toolcrib import plugins
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.wire import Channel, Encoded, Wire, completed
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_ID,
    Message,
    Refusal,
    Request,
    read_request,
    refuse,
)
from toolcrib.serverkit.session import RunningRequests
from toolcrib.telemetry.propagation import TRACEPARENT, carry

logger = logging.getLogger(__name__)

MAX_RUNNING = 256
"""Running requests of one client; more are refused."""
TOO_MANY = -32000

Handler = Callable[["GatewayClient", Request, Wire], Awaitable[Mapping[str, Any]]]


class GatewayClient:
    """What the gateway knows of a client, and its running requests."""

    def __init__(self, gateway: Gateway, channel: Channel, principal: Principal) -> None:
        self.gateway = gateway
        self.channel = channel
        self.principal = principal
        self.version: str | None = None
        """The version negotiated by `initialize`; None before."""
        self.capabilities: dict[str, Any] = {}
        """As a legacy client declared them."""
        self.log_level = "info"
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
            result = await self._running.outcome(request.id, handler(self, request, wire))
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

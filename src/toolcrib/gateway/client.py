"""One client's conversation with the gateway, in whichever era the client speaks.

A modern request stands alone; a legacy client opens with `initialize` and is remembered. Requests are
answered side by side, each under the eye of a cancellation. Nothing a server behind us does can end the
conversation.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from toolcrib import plugins
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.relay import completed
from toolcrib.gateway.wire import Channel, Encoded, Wire
from toolcrib.schema.tools import Principal
from toolcrib.serverkit.protocol import (
    CLIENT_CAPABILITIES,
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
from toolcrib.serverkit.requests import Running
from toolcrib.telemetry.propagation import TRACEPARENT, carry

logger = logging.getLogger(__name__)

MAX_RUNNING = 256
"""Requests of one client under way at once; more are refused, not endured."""
TOO_MANY = -32000

Handler = Callable[["Front", Request, Wire], Awaitable[Mapping[str, Any]]]


class Front:
    """A client."""

    def __init__(self, gateway: Gateway, channel: Channel, principal: Principal) -> None:
        self.gateway = gateway
        self.channel = channel
        self.principal = principal
        self.version: str | None = None
        """The version agreed on by `initialize`; None while the client has not opened that way."""
        self.capabilities: dict[str, Any] = {}
        """What a legacy client said that it can do."""
        self.log_level = "info"
        self._running = Running()

    def can(self, request: Request) -> dict[str, Any]:
        """What the client said that it can do, with this request or when it opened."""
        stated = request.meta.get(CLIENT_CAPABILITIES) if request.modern else self.capabilities
        return stated if isinstance(stated, dict) else {}

    async def respond(self, message: Message, wire: Wire) -> Message | None:
        """The answer to one message; None where there is none to give."""
        if not isinstance(message.get("method"), str):
            return None if "result" in message or "error" in message else refuse(None, _INVALID)
        if "id" not in message:
            self._take_notification(message)
            return None
        request_id = message["id"]
        if type(request_id) not in REQUEST_ID or request_id in self._running:
            return refuse(None, _INVALID)
        try:
            request = read_request(message, opened=self.version is not None)
            if len(self._running) >= MAX_RUNNING:
                raise Refusal(TOO_MANY, f"{MAX_RUNNING} requests are under way; try again shortly.")
            handler = _handlers(request.modern).get(request.method)
            if handler is None:
                raise Refusal(METHOD_NOT_FOUND, f"There is no method {request.method!r} here.")
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
            return refuse(request_id, Refusal(INTERNAL_ERROR, "The gateway failed; its log says why."))

    def close(self) -> None:
        """The client is gone: nothing is sent to it any more, and what it asked for is cancelled."""
        self.gateway.leave(self.channel)
        self._running.cancel_all()

    def _take_notification(self, message: Message) -> None:
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
    """Every method of every module in the folder that there is in this era."""
    folder = "toolcrib.gateway.methods"
    other_era = _LEGACY_ONLY if modern else _MODERN_ONLY
    return {
        method: handler
        for name in plugins.names(folder)
        for method, handler in plugins.find(folder, name).METHODS.items()
        if method not in other_era
    }

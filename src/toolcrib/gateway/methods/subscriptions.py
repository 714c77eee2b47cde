"""Change notifications of the modern era: a stream of those that the client asked for."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.subscriptions import UPDATED
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import SUBSCRIPTION_ID, Message, Request, notification

NOTIFICATIONS = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}


class _ListenChannel:
    """The channel of one stream: forwards what was asked for, marked with the id of the stream."""

    def __init__(self, wire: Wire, meta: dict[str, Any], methods: set[str]) -> None:
        self._wire = wire
        self._meta = meta
        self._methods = methods

    def push(self, message: Message) -> None:
        if message["method"] in self._methods:
            params = {**message.get("params", {}), "_meta": self._meta}
            self._wire.notify({**message, "params": params})


async def listen(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    """Acknowledge what we support, then send notifications until the client disconnects."""
    asked = request.params.get("notifications")
    asked = asked if isinstance(asked, dict) else {}
    wanted = [key for key in NOTIFICATIONS if asked.get(key) is True]
    meta = {SUBSCRIPTION_ID: request.id}
    granted: dict[str, Any] = dict.fromkeys(wanted, True)
    channel = _ListenChannel(wire, meta, {UPDATED, *(NOTIFICATIONS[key] for key in wanted)})
    try:
        if asked.get("resourceSubscriptions"):
            granted["resourceSubscriptions"] = await _subscribe(
                client.gateway, channel, asked["resourceSubscriptions"]
            )
        acknowledged = {"_meta": meta, "notifications": granted}
        wire.notify(notification("notifications/subscriptions/acknowledged", acknowledged))
        client.gateway.join(channel)
        await asyncio.get_running_loop().create_future()
    finally:
        client.gateway.leave(channel)
    return {"_meta": meta}


async def _subscribe(gateway: Gateway, channel: _ListenChannel, asked: Any) -> list[str]:
    """Subscribe to the resources whose servers support it; returns which."""
    uris = [uri for uri in asked if isinstance(uri, str)] if isinstance(asked, list) else []

    async def begin(uri: str) -> bool:
        server = await gateway.subscribable(uri)
        with contextlib.suppress(ToolcribError):
            return server is not None and await gateway.subscriptions.join(channel, server, uri)
        return False

    accepted = await asyncio.gather(*(begin(uri) for uri in dict.fromkeys(uris)))
    return [uri for uri, ok in zip(dict.fromkeys(uris), accepted, strict=True) if ok]


METHODS = {"subscriptions/listen": listen}

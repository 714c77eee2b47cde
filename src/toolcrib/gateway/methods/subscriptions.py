"""Change notifications of the modern era: a stream that stays open and tells what was asked for."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from toolcrib.errors import ToolcribError
from toolcrib.gateway.watches import UPDATED
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import SUBSCRIPTION_ID, Message, Request, notification

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front
    from toolcrib.gateway.gateway import Gateway

HEARD = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}


class _Subscription:
    """The channel of one stream: lets through what was asked for, marked as belonging to the stream."""

    def __init__(self, wire: Wire, meta: dict[str, Any], methods: set[str]) -> None:
        self._wire = wire
        self._meta = meta
        self._methods = methods

    def push(self, message: Message) -> None:
        if message["method"] in self._methods:
            params = {**message.get("params", {}), "_meta": self._meta}
            self._wire.tell({**message, "params": params})


async def listen(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Acknowledge what we can tell of, then tell it until the client goes away."""
    asked = request.params.get("notifications")
    asked = asked if isinstance(asked, dict) else {}
    wanted = [key for key in HEARD if asked.get(key) is True]
    meta = {SUBSCRIPTION_ID: request.id}
    granted: dict[str, Any] = dict.fromkeys(wanted, True)
    subscription = _Subscription(wire, meta, {UPDATED, *(HEARD[key] for key in wanted)})
    try:
        if asked.get("resourceSubscriptions"):
            granted["resourceSubscriptions"] = await _watch(
                front.gateway, subscription, asked["resourceSubscriptions"]
            )
        acknowledged = {"_meta": meta, "notifications": granted}
        wire.tell(notification("notifications/subscriptions/acknowledged", acknowledged))
        front.gateway.join(subscription)
        await asyncio.get_running_loop().create_future()
    finally:
        front.gateway.leave(subscription)
    return {"_meta": meta}


async def _watch(gateway: Gateway, subscription: _Subscription, asked: Any) -> list[str]:
    """Watch over those resources whose servers tell of changes; returns which."""
    uris = [uri for uri in asked if isinstance(uri, str)] if isinstance(asked, list) else []

    async def begin(uri: str) -> bool:
        server = await gateway.watchable(uri)
        with contextlib.suppress(ToolcribError):
            return server is not None and await gateway.watches.join(subscription, server, uri)
        return False

    watched = await asyncio.gather(*(begin(uri) for uri in dict.fromkeys(uris)))
    return [uri for uri, well in zip(dict.fromkeys(uris), watched, strict=True) if well]


METHODS = {"subscriptions/listen": listen}

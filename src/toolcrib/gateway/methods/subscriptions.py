"""Change notifications of the modern era: a stream that stays open and tells what was asked for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import SUBSCRIPTION_ID, Message, Request, notification

if TYPE_CHECKING:
    from toolcrib.gateway.front import Front

HEARD = {"toolsListChanged": "notifications/tools/list_changed"}


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
    wanted = [key for key in HEARD if isinstance(asked, dict) and asked.get(key) is True]
    meta = {SUBSCRIPTION_ID: request.id}
    acknowledged = {"_meta": meta, "notifications": dict.fromkeys(wanted, True)}
    subscription = _Subscription(wire, meta, {HEARD[key] for key in wanted})
    wire.tell(notification("notifications/subscriptions/acknowledged", acknowledged))
    front.gateway.join(subscription)
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        front.gateway.leave(subscription)
    return {"_meta": meta}


METHODS = {"subscriptions/listen": listen}

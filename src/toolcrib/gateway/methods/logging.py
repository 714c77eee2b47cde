"""Logging of the legacy era: from which level on a client is told what servers log during its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import Request, log_level

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front


async def set_level(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Remember it for this client."""
    front.log_level = log_level(request.params.get("level"))
    gateway = front.gateway
    await gateway.logs.want(front.log_level, gateway.catalog.sessions("logging"))
    return {}


METHODS = {"logging/setLevel": set_level}

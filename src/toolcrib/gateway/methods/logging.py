"""The log level of a client of the legacy era, for messages of servers during its calls."""

from __future__ import annotations

from typing import Any

from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import Request, log_level


async def set_level(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    client.log_level = log_level(request.params.get("level"))
    gateway = client.gateway
    await gateway.logs.set_level(client.log_level, gateway.catalog.sessions("logging"))
    return {}


METHODS = {"logging/setLevel": set_level}

"""The handshake of the legacy era and the discovery of the modern one: version, capabilities, and how long a
client may cache them."""

from __future__ import annotations

from typing import Any

from toolcrib.gateway.client import GatewayClient
from toolcrib.gateway.identity import session_of
from toolcrib.gateway.wire import INFO, Wire
from toolcrib.serverkit.protocol import LEGACY_VERSIONS, MODERN_VERSIONS, Request

FRESH_FOR = 60_000


CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "completions": {},
    "logging": {},
}
"""Always all: a legacy client gets them once, when servers that have them may still be starting."""


async def initialize(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    """Negotiate the version: the one asked for if we support it, else our newest.

    A client that opens again begins a new session.
    """
    asked = request.params.get("protocolVersion")
    capabilities = request.params.get("capabilities")
    if client.version is not None:
        client.gateway.end_session(client.principal)
    client.version = asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[0]
    client.capabilities = capabilities if isinstance(capabilities, dict) else {}
    client.principal = session_of(client.gateway.profile.name, request.params.get("clientInfo"))
    client.gateway.join(client.channel)
    return {"protocolVersion": client.version, "serverInfo": INFO, "capabilities": CAPABILITIES}


async def discover(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    hints = {"ttlMs": FRESH_FOR, "cacheScope": "private"}
    return {"supportedVersions": list(MODERN_VERSIONS), "capabilities": CAPABILITIES, **hints}


async def ping(client: GatewayClient, request: Request, wire: Wire) -> dict[str, Any]:
    return {}


METHODS = {"initialize": initialize, "server/discover": discover, "ping": ping}

"""How a client opens: the handshake of the legacy era, the discovery of the modern one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolcrib.gateway.gateway import INFO
from toolcrib.gateway.wire import Wire
from toolcrib.serverkit.protocol import LEGACY_VERSIONS, MODERN_VERSIONS, Request

if TYPE_CHECKING:
    from toolcrib.gateway.client import Front

FRESH_FOR = 60_000


CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "completions": {},
    "logging": {},
}
"""Always all: a legacy client hears of them once, when servers that offer them may still be starting."""


async def initialize(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Agree on a version: the one asked for if we know it, else our newest."""
    asked = request.params.get("protocolVersion")
    capabilities = request.params.get("capabilities")
    front.version = asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[0]
    front.capabilities = capabilities if isinstance(capabilities, dict) else {}
    front.gateway.join(front.channel)
    return {"protocolVersion": front.version, "serverInfo": INFO, "capabilities": CAPABILITIES}


async def discover(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """Say what we are and can do."""
    hints = {"ttlMs": FRESH_FOR, "cacheScope": "private"}
    return {"supportedVersions": list(MODERN_VERSIONS), "capabilities": CAPABILITIES, **hints}


async def ping(front: Front, request: Request, wire: Wire) -> dict[str, Any]:
    """A sign of life."""
    return {}


METHODS = {"initialize": initialize, "server/discover": discover, "ping": ping}

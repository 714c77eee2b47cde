"""Negotiates the protocol version: the modern era (2026-07-28, no handshake) or the legacy one. Lists the
supported versions, and has the errors for others and the time before `initialize` is tried.

A server of unknown era is probed with `server/discover`. Any error means legacy, except the modern one that
lists supported versions. If the server stays silent, `initialize` is sent as well, and the first answer
decides, so that a slow start is not mistaken for legacy.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.errors import ConfigError, PeerError
from toolcrib.servers.sessions.peer import Peer

Era = Literal["modern", "legacy"]

MODERN_VERSIONS = ("2026-07-28",)
LEGACY_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07")
UNSUPPORTED_VERSION = -32022
PROBE_PATIENCE = 5.0
"""Seconds without an answer to the probe after which `initialize` is sent too."""

META = "io.modelcontextprotocol/"


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The client's name and capabilities."""

    info: dict[str, Any]
    capabilities: dict[str, Any]

    def meta(self, version: str) -> dict[str, Any]:
        """The `_meta` that every modern request carries."""
        return {
            META + "protocolVersion": version,
            META + "clientInfo": self.info,
            META + "clientCapabilities": self.capabilities,
        }


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The negotiated protocol."""

    era: Era
    version: str
    capabilities: dict[str, Any] = field(default_factory=dict)
    server_info: dict[str, Any] = field(default_factory=dict)
    instructions: str = ""


def era_of(version: str | None) -> Era:
    return "legacy" if version in LEGACY_VERSIONS else "modern"


async def negotiate(peer: Peer, identity: Identity, *, era: Era | None, timeout: float) -> Agreement:
    """Agree on a version. `era` is the one remembered for this server; it is tried first, then the other."""
    async with asyncio.timeout(timeout):
        if era != "legacy":
            return await _probe(peer, identity, timeout)
        try:
            return await _initialize(peer, identity, timeout)
        except PeerError:
            return await _probe(peer, identity, timeout)


async def _probe(peer: Peer, identity: Identity, timeout: float) -> Agreement:
    discovery = asyncio.ensure_future(_discover(peer, identity, timeout))
    try:
        done, _ = await asyncio.wait({discovery}, timeout=PROBE_PATIENCE)
        if not done:
            return await _race(peer, identity, discovery, timeout)
        agreement = discovery.result()
        return agreement or await _initialize(peer, identity, timeout)
    finally:
        await _drop(discovery)


async def _race(
    peer: Peer, identity: Identity, discovery: asyncio.Future[Agreement | None], timeout: float
) -> Agreement:
    """The probe is unanswered: send the handshake too; the first good answer wins."""
    handshake = asyncio.ensure_future(_initialize(peer, identity, timeout))
    contest: set[asyncio.Future[Any]] = {discovery, handshake}
    try:
        await asyncio.wait(contest, return_when=asyncio.FIRST_COMPLETED)
        if discovery.done() and (agreement := discovery.result()):
            return agreement
        try:
            return await handshake
        except PeerError:
            # A modern server refuses the handshake; its answer to the probe may follow.
            await asyncio.wait({discovery}, timeout=PROBE_PATIENCE)
            if not discovery.done() or (agreement := discovery.result()) is None:
                raise
            return agreement
    finally:
        await _drop(handshake)


async def _discover(
    peer: Peer,
    identity: Identity,
    timeout: float,
    version: str = MODERN_VERSIONS[0],
    *,
    insist: bool = True,
) -> Agreement | None:
    """The modern agreement, or None if the server is not modern.

    If the server refuses our version and lists another one we support, that one is tried once.
    """
    try:
        result = await peer.request(
            "server/discover", {"_meta": identity.meta(version)}, timeout=timeout, cancellable=False
        )
    except PeerError as error:
        if error.code != UNSUPPORTED_VERSION or not isinstance(error.data, dict):
            return None
        supported = error.data.get("supported")
        mutual = _mutual(supported)
        if not mutual:
            _refuse_unsupported(supported)
        elif insist:
            return await _discover(peer, identity, timeout, mutual[0], insist=False)
        return None
    supported = result.get("supportedVersions")
    mutual = _mutual(supported)
    if not mutual:
        _refuse_unsupported(supported)
        return None
    meta = result.get("_meta")
    info = meta.get(META + "serverInfo") if isinstance(meta, dict) else None
    return Agreement(era="modern", version=mutual[0], server_info=_object(info), **_common(result))


def _mutual(supported: Any) -> list[str]:
    return [version for version in MODERN_VERSIONS if isinstance(supported, list) and version in supported]


def _refuse_unsupported(supported: Any) -> None:
    """Fail for a modern server without a common version, unless it lists a legacy version too."""
    if not isinstance(supported, list) or not supported or any(v in LEGACY_VERSIONS for v in supported):
        return
    raise ConfigError(
        f"The server supports only protocol {', '.join(map(str, supported))}.",
        hint="Update Toolcrib, or install a server version that supports an older protocol.",
    )


async def _initialize(peer: Peer, identity: Identity, timeout: float) -> Agreement:
    params = {
        "protocolVersion": LEGACY_VERSIONS[0],
        "capabilities": identity.capabilities,
        "clientInfo": identity.info,
    }
    result = await peer.request("initialize", params, timeout=timeout, cancellable=False)
    version = result.get("protocolVersion")
    if version not in LEGACY_VERSIONS:
        raise ConfigError(
            f"The server answered the handshake with the unknown protocol {version!r}.",
            hint="Update Toolcrib, or install another version of the server.",
        )
    await peer.notify("notifications/initialized")
    info = _object(result.get("serverInfo"))
    return Agreement(era="legacy", version=str(version), server_info=info, **_common(result))


def _common(result: dict[str, Any]) -> dict[str, Any]:
    instructions = result.get("instructions")
    return {
        "capabilities": _object(result.get("capabilities")),
        "instructions": instructions if isinstance(instructions, str) else "",
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


async def _drop(future: asyncio.Future[Any]) -> None:
    if future.done():
        if not future.cancelled():
            future.exception()
        return
    future.cancel()
    await asyncio.wait({future})
    if not future.cancelled():
        future.exception()  # its error no longer matters

"""Which hosts a remote server may point to in its OAuth metadata: public ones and those of its own network.

The server's own URL was typed by the user and is not limited by this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx2

from toolcrib.errors import AuthRequired, FetchFailed, NetworkRefused
from toolcrib.serverkit.network.addresses import AddressKind, kind_of
from toolcrib.serverkit.network.policy import NetworkPolicy, is_address, shown
from toolcrib.serverkit.network.proxies import environment_proxy, is_local
from toolcrib.serverkit.network.resolving import Resolver, system_resolver
from toolcrib.serverkit.network.urls import origin, parse_url, port_of, raw_host


async def check_named(url: str, server_url: str, resolve: Resolver = system_resolver) -> None:
    """Raise `AuthRequired` for an address that a server must not send the user's browser to."""
    server = httpx2.URL(server_url)
    policies = named_policies(server, resolve)
    policy = policies.get(url.partition(":")[0].lower())
    if policy is None:
        raise refused(url)
    try:
        parsed = parse_url(url, policy)
        if not same_origin(parsed, server):
            await policy.addresses(raw_host(parsed), port_of(parsed))
    except NetworkRefused as error:
        raise refused(url) from error
    except FetchFailed as error:
        if environment_proxy(httpx2.URL(url)) is None:  # else only the proxy may be able to look names up
            raise refused(url) from error


def named_policies(server: httpx2.URL, resolve: Resolver = system_resolver) -> Mapping[str, NetworkPolicy]:
    """What a server may point to, by scheme: https in public networks and in its own kind of network, http
    only on this machine and only if the server is there too."""
    here: frozenset[AddressKind] = frozenset({"loopback"}) if is_local(server.host) else frozenset()
    plain = NetworkPolicy(ports=None, kinds=here, resolve=resolve)
    secure = _OwnNetworkPolicy(ports=None, kinds=here | {"public"}, resolve=resolve, server=raw_host(server))
    return {"http": plain, "https": secure}


@dataclass(frozen=True)
class _OwnNetworkPolicy(NetworkPolicy):
    """Allows private addresses if the server has one itself.

    The owner of a name could let it lead to a private network for the moment of this check. That gains
    nothing, as https needs a certificate for the host there. On this machine http is enough, so loopback
    counts only by the server's spelling (`is_local`).
    """

    server: str = ""

    async def addresses(self, host: str, port: int) -> list[str]:
        policy = NetworkPolicy(ports=self.ports, kinds=self.kinds, resolve=self.resolve)
        if await self._is_private():
            policy = replace(policy, kinds=self.kinds | {"private"})
        return await policy.addresses(host, port)

    async def _is_private(self) -> bool:
        try:
            found = [self.server] if is_address(self.server) else await self.resolve(self.server, 443)
        except (OSError, UnicodeError):
            return False
        return bool(found) and all(kind_of(address) == "private" for address in found)


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether scheme, host and port are equal."""
    return (one.scheme, one.raw_host, one.port) == (other.scheme, other.raw_host, other.port)


def refused(url: str) -> AuthRequired:
    """The error for an address that a server must not point to; without the path, which may hold a secret."""
    try:
        parsed = httpx2.URL(url)
        where = origin(parsed) if parsed.host else shown(url, 40)
    except httpx2.InvalidURL:
        where = shown(url, 40)
    return AuthRequired(
        f"The sign-in was stopped: the server points to the unsafe address {where}.",
        hint="Do not sign in to this server, or ask its operator.",
    )

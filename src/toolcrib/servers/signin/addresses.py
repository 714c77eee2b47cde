"""Where a sign-in may lead: what a server says of addresses is not trusted any further than the server is."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

from toolcrib.errors import AuthRequired


async def check_address(url: str, server_url: str) -> None:
    """Refuse an address that a server must not send us to; raises `AuthRequired`.

    Only https, or http on the server's own machine when that is this one; and no private network, unless the
    server itself lives there.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    own = urlsplit(server_url)
    if parts.username or parts.password or parts.scheme not in ("http", "https") or not host:
        raise _refused(url)
    if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
        return
    addresses, ours = await _addresses(host), await _addresses(own.hostname or "")
    if parts.scheme == "http" and not (_all_loopback(addresses) and _all_loopback(ours)):
        raise _refused(url)
    if not all(_is_public(address) for address in addresses) and all(_is_public(one) for one in ours):
        raise _refused(url)


async def _addresses(host: str) -> set[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {str(entry[4][0]).partition("%")[0] for entry in found}


def _is_public(address: str) -> bool:
    one = ipaddress.ip_address(address)
    if isinstance(one, ipaddress.IPv6Address):
        inner = one.ipv4_mapped or one.sixtofour or _embedded(one)
        if inner is not None:
            return inner.is_global
    return one.is_global and not one.is_multicast


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address inside one for translators (64:ff9b::/96) or of the old compatible form (::/96)."""
    number = int(address)
    if number >> 32 in (0x64FF9B << 64, 0) and number > 1:
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def _all_loopback(addresses: set[str]) -> bool:
    return bool(addresses) and all(ipaddress.ip_address(one).is_loopback for one in addresses)


def _refused(url: str) -> AuthRequired:
    origin = urlsplit(url)
    shown = f"{origin.scheme}://{origin.hostname}" if origin.hostname else url[:40]
    return AuthRequired(
        f"The sign-in was stopped: the server points to {shown}, where it has no business.",
        hint="Do not sign in to this server, or ask whoever runs it.",
    )

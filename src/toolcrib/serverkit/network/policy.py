"""Which hosts, ports and addresses may be connected to (allowed ports, exceptions with `--allow-private`),
and the names of hosts in one canonical form."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from toolcrib.errors import FetchFailed, NetworkRefused, UsageError
from toolcrib.serverkit.network.addresses import AddressKind, kind_of
from toolcrib.serverkit.network.resolving import Resolver, system_resolver

DEFAULT_PORTS = frozenset({80, 443, 8080, 8443})
"""Ports of web servers. Others belong to mail, databases and caches, some of which obey an HTTP request."""
MAX_HOST_LENGTH = 253
MAX_ADDRESSES = 32
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)", re.ASCII)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)
_DESCRIPTIONS: dict[AddressKind, str] = {
    "loopback": "this machine",
    "private": "a private network",
    "reserved": "an address that is not on the public internet",
}


@dataclass(frozen=True)
class NetworkPolicy:
    """What a URL that the user did not type may lead to. Only the user names exceptions."""

    allow_private: frozenset[str] = frozenset()
    """Exceptions as HOST:PORT: any address and any port, for exactly this host and port."""
    ports: frozenset[int] | None = DEFAULT_PORTS
    """Allowed ports; None allows all."""
    kinds: frozenset[AddressKind] = frozenset({"public"})
    schemes: frozenset[str] = frozenset({"http", "https"})
    """Of the URL and of every redirect; https alone if a password or a program depends on the answer."""
    resolve: Resolver = system_resolver

    def __post_init__(self) -> None:
        exceptions = frozenset(_exception(text) for text in self.allow_private)
        object.__setattr__(self, "allow_private", exceptions)

    def allows(self, host: str, port: int) -> bool:
        """Whether the user named this host and port as an exception."""
        return endpoint(host, port) in self.allow_private

    def check_port(self, host: str, port: int) -> None:
        """Raise `NetworkRefused` for a port that is not allowed."""
        if not 0 < port < 65536:
            raise NetworkRefused(f"{host}:{port} has an invalid port.", hint="Ports are 1 to 65535.")
        if self.ports is not None and port not in self.ports and not self.allows(host, port):
            allowed = ", ".join(map(str, sorted(self.ports)))
            raise NetworkRefused(
                f"Port {port} of {host} is not allowed; allowed are {allowed}.",
                hint=_how_to_allow(host, port),
            )

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, each of them checked; connect to these and do not look the name up again.

        Raises `NetworkRefused` if one is not allowed, and `FetchFailed` if the name does not resolve.
        """
        host = canonical_host(host)
        self.check_port(host, port)
        found = await self._resolve(host, port)
        if not self.allows(host, port):
            for address in found:
                self._check(address, host, port)
        return found

    async def _resolve(self, host: str, port: int) -> list[str]:
        if is_address(host):
            return [host]
        try:
            found = await self.resolve(host, port)
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise FetchFailed(
                f"The host name {host} does not resolve.", hint="Check its spelling and the network."
            )
        return list(dict.fromkeys(found))[:MAX_ADDRESSES]

    def _check(self, address: str, host: str, port: int) -> None:
        kind = kind_of(address)
        if kind in self.kinds:
            return
        where = _DESCRIPTIONS.get(kind, "the public internet")
        raise NetworkRefused(f"{host} is not allowed: it leads to {where}.", hint=_how_to_allow(host, port))


def canonical_host(host: str) -> str:
    """The host as it is compared and connected to; raises `NetworkRefused` for unusual spellings.

    Operating systems read 2130706433, 0x7f.1 and 0177.0.0.1 as 127.0.0.1, so only four decimal numbers count
    as an IPv4 address.
    """
    name = host.lower().removesuffix(".")
    if is_address(name):
        return ipaddress.ip_address(name).compressed
    labels = name.split(".")
    valid = len(name) <= MAX_HOST_LENGTH and all(_LABEL.fullmatch(label) for label in labels)
    if not valid or _NUMBER.fullmatch(labels[-1]):
        raise NetworkRefused(
            f"{shown(host)} is not a valid host name or IP address.",
            hint="Write an IPv4 address as four decimal numbers, an IPv6 address in brackets without a zone.",
        )
    return name


def is_address(host: str) -> bool:
    """Whether it is an IP address in its standard form, without a zone."""
    try:
        return "%" not in host and bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def endpoint(host: str, port: int) -> str:
    """HOST:PORT in the form of an exception."""
    host = canonical_host(host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def shown(text: str, longest: int = 100) -> str:
    """Text of others for an error or a log: control characters escaped, shortened."""
    escaped = "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text[: longest + 1]
    )
    return escaped if len(text) <= longest else f"{escaped[:longest]}…"


def _exception(text: str) -> str:
    host, colon, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        if not colon or not port.isascii() or not port.isdigit() or (":" in host and not bracketed):
            raise ValueError(text)
        return endpoint(host[1:-1] if bracketed else host, int(port))
    except (ValueError, NetworkRefused):
        raise UsageError(
            f"{shown(text)!r} is not HOST:PORT.",
            hint="For example 192.168.1.20:8080, nas.local:443 or [::1]:8000.",
        ) from None


def _how_to_allow(host: str, port: int) -> str:
    argument = f"--allow-private {endpoint(host, port)}"
    return f"Only the user can allow it, by adding {argument} to the arguments of the server's entry."

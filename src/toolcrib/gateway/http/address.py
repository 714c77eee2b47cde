"""The address that the gateway listens on, and the host names under which it answers there.

A web page can send requests to loopback, but it cannot forge `Host` and cannot omit `Origin`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from toolcrib.errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def bind(address: str, port: int) -> tuple[socket.socket, bool]:
    """A socket bound to this address, and whether other machines can reach it.

    It does not listen yet. Raises `UsageError`.
    """
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise UsageError(
            f"{address!r} is not an address of this machine.", hint="Choose another with --host."
        ) from None
    family, _, _, _, place = found[0]
    # The protocol is given because asyncio sets TCP_NODELAY only on sockets that it knows to be TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(place)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"The address {address}:{port} cannot be used: {error.strerror}.",
            hint="Choose another with --port or --host.",
        ) from None
    return listening, not _number(listening).is_loopback


def shown_name(listening: socket.socket, names: Iterable[str] = ()) -> str:
    """The address as clients write it: the first of the names, or the number, with the port."""
    number, port = _number(listening), listening.getsockname()[1]
    if number.is_unspecified:
        number = ipaddress.ip_address("127.0.0.1" if number.version == 4 else "::1")
    usual = f"[{number}]" if number.version == 6 else str(number)
    return f"{next(iter(names), usual)}:{port}"


def _number(listening: socket.socket) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(str(listening.getsockname()[0]).partition("%")[0])


@dataclass(frozen=True, kw_only=True)
class Guard:
    """Checks the Host and Origin headers. `hosts` are allowed besides loopback."""

    hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str], reached: str | None = None) -> tuple[int, str] | None:
        """The status and text that refuse a request; None if it is allowed.

        `reached` is our own address that the connection came to; it is always an allowed host.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is None and host.partition(":")[0] in LOOPBACK:
            return None  # the usual case
        if not self._allows(_hostname(host), reached):
            return 421, "This host name is not allowed. Allow it with --allowed-host."
        if origin is not None and not self._allows(_origin(origin), reached):
            return 403, "Requests from this origin are not allowed."
        return None

    def _allows(self, host: str, reached: str | None) -> bool:
        return host in LOOPBACK or (host != "" and (host == reached or host in self.hosts))


def _hostname(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _origin(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""

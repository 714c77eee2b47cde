"""The address that the gateway listens on, and the host names under which it answers there: which `Host` and
`Origin` headers are refused, and the error if a port is in use.

A web page can send requests to loopback, but it cannot forge `Host` and cannot omit `Origin`.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolcrib.errors import UsageError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^\s:/?#@\[\]]+)(?::[0-9]{1,5})?")


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
        raise _unusable(f"{address}:{port}", error) from None
    return listening, not _number(listening).is_loopback


def listen(listening: socket.socket, backlog: int) -> None:
    """Begin to listen; raises `UsageError` if another process bound the same port and listens by now.

    uvloop would ignore that error, and the server would never be reached.
    """
    try:
        listening.listen(backlog)
    except OSError as error:
        raise _unusable(shown_name(listening), error) from None


def _unusable(place: str, error: OSError) -> UsageError:
    return UsageError(
        f"The address {place} cannot be used: {error.strerror}.", hint="Choose another with --port or --host."
    )


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
class HeaderCheck:
    """Checks the Host and Origin headers. `hosts` are allowed besides loopback."""

    hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str], reached: str | None = None) -> tuple[int, str] | None:
        """The status and text that refuse a request; None if it is allowed.

        `reached` is our own address that the connection came to; it is always an allowed host.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        name = _name(host)
        if name is None or not (name in LOOPBACK or name == reached or name in self.hosts):
            return 421, "This host name is not allowed. Allow it with --allowed-host."
        if origin is not None and origin not in self._own_origins(name, host.lower()):
            return 403, "Requests from this origin are not allowed."
        return None

    def _own_origins(self, name: str, host: str) -> Iterator[str]:
        """The origins of this gateway's own page, as browsers write them.

        Another port of the same machine belongs to another program. With https, a proxy stands in front: it
        has a name that the user allowed, and may have replaced the Host header.
        """
        yield f"http://{host.removesuffix(':80')}"
        if name in self.hosts - LOOPBACK:
            yield f"https://{host.removesuffix(':443')}"
        yield from (f"https://{allowed}" for allowed in self.hosts - LOOPBACK)


def _name(host: str) -> str | None:
    """The name in a Host header, without its port; None if it is malformed."""
    if not (parts := _HOST.fullmatch(host)):
        return None
    return parts["name"].lower().strip("[]")

"""The address that we listen on: bound by name or number, told whether others reach it, and shown."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable

from toolcrib.errors import UsageError


def bind(address: str, port: int) -> tuple[socket.socket, bool]:
    """A socket bound to this address, and whether other machines than this one reach it.

    Nobody is let in yet. Raises `UsageError`.
    """
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError):
        raise UsageError(
            f"{address!r} is no address of this machine.", hint="Choose another with --host."
        ) from None
    family, _, _, _, place = found[0]
    # The protocol is named because asyncio sends small packets at once only where it can see that it is TCP.
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
    """How a client writes the address: by the first of the names, else by number, with the port."""
    number, port = _number(listening), listening.getsockname()[1]
    if number.is_unspecified:
        number = ipaddress.ip_address("127.0.0.1" if number.version == 4 else "::1")
    usual = f"[{number}]" if number.version == 6 else str(number)
    return f"{next(iter(names), usual)}:{port}"


def _number(listening: socket.socket) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(str(listening.getsockname()[0]).partition("%")[0])

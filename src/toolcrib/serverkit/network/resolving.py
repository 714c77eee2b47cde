"""How host names are looked up; light to import, because every connection to a server has a resolver."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host name, in the order to try; raises `OSError` if there are none."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses that the operating system finds."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]

"""Reads from connections in short steps: how many bytes at once.

An HTTP parser handles everything that one read returned before other tasks run: 64 KB of informational
responses or of one-byte chunks take 0.1 s.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from time import thread_time
from typing import Any

import httpcore2
import httpx2

SHORTEST_READ = 2 * 1024
LONGEST_READ = 8 * 1024
SHORT_WORK, LONG_WORK = 0.0005, 0.001
"""Seconds of work after a read that make the next ones longer or shorter."""
_Options = Iterable[httpcore2.SOCKET_OPTION] | None


class ShortReads(httpcore2.AsyncNetworkBackend):
    """The connections of another backend, read in short steps."""

    def __init__(self, inner: httpcore2.AsyncNetworkBackend) -> None:
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: _Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        return _ShortReadStream(stream)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: _Options = None
    ) -> httpcore2.AsyncNetworkStream:
        return _ShortReadStream(await self._inner.connect_unix_socket(path, timeout, socket_options))

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _ShortReadStream(httpcore2.AsyncNetworkStream):
    def __init__(self, inner: httpcore2.AsyncNetworkStream) -> None:
        self._inner = inner
        self._size = SHORTEST_READ
        self._read_at = 0.0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._read_at:
            self._adapt(thread_time() - self._read_at)
        data = await self._inner.read(min(max_bytes, self._size), timeout)
        self._read_at = thread_time()
        return data

    def _adapt(self, work: float) -> None:
        """Read less at once from a server whose data takes long to parse."""
        if work > LONG_WORK:
            self._size = SHORTEST_READ
        elif work < SHORT_WORK:
            self._size = min(LONGEST_READ, 2 * self._size)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return _ShortReadStream(await self._inner.start_tls(ssl_context, server_hostname, timeout))


def read_in_short_steps(transport: httpx2.AsyncHTTPTransport) -> httpx2.AsyncHTTPTransport:
    """The same transport; httpx2 has no public way to give it a network backend."""
    pool = transport._pool
    pool._network_backend = ShortReads(pool._network_backend)
    return transport

"""Serves the gateway over HTTP for as long as a block lasts.

Shutdown is bounded: running calls have a few seconds to finish, then are answered with an error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from toolcrib.gateway.http.address import HeaderCheck, bind, listen, shown_name
from toolcrib.gateway.http.application import FallbackApp, HttpApplication
from toolcrib.gateway.http.connection import HttpConnection
from toolcrib.gateway.http.endpoints import ProfileEndpoints
from toolcrib.gateway.profile import Offer, offer_all
from toolcrib.host import Host
from toolcrib.servers.sandbox.own_ports import claimed

BACKLOG = 2048
GRACE = 3.0
"""Seconds that running requests have at shutdown."""
SENDING = 2.0
"""Seconds more, to send the responses."""


@asynccontextmanager
async def serve_http(
    host: Host,
    offer: Offer | None = None,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: Iterable[str] = (),
    fallback: FallbackApp | None = None,
) -> AsyncIterator[tuple[str, ProfileEndpoints]]:
    """Serve the endpoints that `offer` names, by default all; yields the base URL and the endpoints.

    On an address that other machines can reach, every endpoint must have a token; raises `UsageError`.
    `fallback` answers at all paths that are not the gateway's, behind the same guard and limits.
    """
    listening, public = bind(address, port)
    with contextlib.closing(listening), claimed(listening.getsockname()[1]):
        endpoints = ProfileEndpoints(host, offer or offer_all(), public=public)
        endpoints.check()
        names = {*allowed_hosts, *host.settings.gateway.allowed_hosts, address}
        application = HttpApplication(
            endpoints, HeaderCheck(hosts=frozenset(name.lower() for name in names)), fallback
        )
        opened = _Connections()
        async with endpoints.following():
            base = f"http://{shown_name(listening, allowed_hosts)}"
            listen(listening, BACKLOG)
            server = await asyncio.get_running_loop().create_server(
                lambda: HttpConnection(application, endpoints.load, opened, host.is_own_program),
                sock=listening,
                backlog=BACKLOG,
            )
            try:
                yield base, endpoints
            finally:
                server.close()
                for connection in tuple(opened):
                    connection.finish()
                if fallback is not None:
                    fallback.end()
                await endpoints.drain(GRACE)
                if fallback is not None:
                    await fallback.close(SENDING)
                await _end(application, opened)


class _Connections(set[HttpConnection]):
    """The open connections, and an event for when there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._empty = asyncio.Event()

    def discard(self, connection: object) -> None:
        super().discard(connection)
        if not self:
            self._empty.set()

    async def until_empty(self) -> None:
        if self:
            self._empty.clear()
            await self._empty.wait()


async def _end(application: HttpApplication, opened: _Connections) -> None:
    """Give responses some time to be sent, then disconnect."""
    await application.close(SENDING)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SENDING):
            await opened.until_empty()
    for connection in tuple(opened):
        connection.abort()

"""Runs the application on an address of this machine, for as long as a block lasts.

The end is bounded: calls under way have a few seconds to finish, then are answered with an error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from toolcrib.gateway.http.address import bind, shown_name
from toolcrib.gateway.http.application import Application
from toolcrib.gateway.http.connection import Connection
from toolcrib.gateway.http.guard import Guard
from toolcrib.gateway.http.page_bridge import Beside
from toolcrib.gateway.http.views import Views
from toolcrib.gateway.offer import Offer, offer_all
from toolcrib.host import Host

BACKLOG = 2048
GRACE = 3.0
"""Seconds that requests under way have when the gateway ends."""
SENDING = 2.0
"""Seconds more, for the answers to be sent."""


@asynccontextmanager
async def serve_http(
    host: Host,
    offer: Offer | None = None,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: Iterable[str] = (),
    beside: Beside | None = None,
) -> AsyncIterator[tuple[str, Views]]:
    """Serve views of the host, all of them unless told otherwise; yields the base address and the views.

    On an address that other machines reach, every view must have a token; raises `UsageError`. `beside`
    answers at all paths but the gateway's own, behind the same guard and within the same limits.
    """
    listening, public = bind(address, port)
    with contextlib.closing(listening):
        views = Views(host, offer or offer_all(), public=public)
        views.check()
        names = {*allowed_hosts, *host.settings.gateway.allowed_hosts, address}
        application = Application(views, Guard(hosts=frozenset(name.lower() for name in names)), beside)
        opened = _Opened()
        async with views.following():
            base = f"http://{shown_name(listening, allowed_hosts)}"
            server = await asyncio.get_running_loop().create_server(
                lambda: Connection(application, views.load, opened, host.workspace_tools.is_own_command),
                sock=listening,
                backlog=BACKLOG,
            )
            try:
                yield base, views
            finally:
                server.close()
                for connection in tuple(opened):
                    connection.finish()
                if beside is not None:
                    beside.end()
                await views.drain(GRACE)
                if beside is not None:
                    await beside.close(SENDING)
                await _end(application, opened)


class _Opened(set[Connection]):
    """The connections; tells when the last one is gone."""

    def __init__(self) -> None:
        super().__init__()
        self._none = asyncio.Event()

    def discard(self, connection: object) -> None:
        super().discard(connection)
        if not self:
            self._none.set()

    async def gone(self) -> None:
        if self:
            self._none.clear()
            await self._none.wait()


async def _end(application: Application, opened: _Opened) -> None:
    """Answers are sent for a while; then connections are cut."""
    await application.close(SENDING)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SENDING):
            await opened.gone()
    for connection in tuple(opened):
        connection.abort()

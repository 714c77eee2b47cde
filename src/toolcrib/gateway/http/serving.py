"""Runs the application on an address of this machine, for as long as a block lasts.

The end is bounded: calls under way have a few seconds to finish, then are answered with an error.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from toolcrib.gateway.http.address import bind, shown_name
from toolcrib.gateway.http.application import Application
from toolcrib.gateway.http.guard import Guard
from toolcrib.gateway.http.protocol import bounded_protocol
from toolcrib.gateway.http.views import Views
from toolcrib.gateway.offer import Offer, offer_all
from toolcrib.host import Host

GRACE = 3.0
"""Seconds that requests under way have when the gateway ends."""
SENDING = 2
"""Seconds more, for the answers to be sent."""


@asynccontextmanager
async def serve_http(
    host: Host,
    offer: Offer | None = None,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    allowed_hosts: Iterable[str] = (),
) -> AsyncIterator[tuple[str, Views]]:
    """Serve views of the host, all of them unless told otherwise; yields the base address and the views.

    On an address that other machines reach, every view must have a token; raises `UsageError`.
    """
    import uvicorn

    listening, public = bind(address, port)
    with contextlib.closing(listening):
        views = Views(host, offer or offer_all(), public=public)
        views.check()
        names = {*allowed_hosts, *host.settings.gateway.allowed_hosts, address}
        application = Application(views, Guard(hosts=frozenset(name.lower() for name in names)))
        config = uvicorn.Config(
            application,
            http=bounded_protocol(views.load),
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(GRACE) + SENDING,
        )
        server = _server(uvicorn.Server)(config)
        async with views.following():
            # Now, not when the server gets to it: whoever is told the address may come at once.
            listening.listen(config.backlog)
            serving = asyncio.create_task(server.serve(sockets=[listening]), name="gateway")
            try:
                yield f"http://{shown_name(listening, allowed_hosts)}", views
            finally:
                server.should_exit = True
                await views.drain(GRACE)
                with contextlib.suppress(asyncio.CancelledError):
                    await serving


def _server(base: type[Any]) -> type[Any]:
    """A server that leaves signals to whoever runs it."""

    class Quiet(base):  # type: ignore[misc]
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Quiet

"""Runs the application on an address of this machine, for as long as a block lasts."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from urllib.parse import quote

from toolcrib.errors import UsageError
from toolcrib.gateway.gateway import Gateway
from toolcrib.gateway.http.application import Application
from toolcrib.gateway.http.guard import Guard

GRACE = 3
"""Seconds that requests under way have when the gateway ends."""


@asynccontextmanager
async def serve_http(
    gateway: Gateway, *, host: str = "127.0.0.1", port: int = 0, guard: Guard | None = None
) -> AsyncIterator[str]:
    """Serve the gateway; yields its address."""
    import uvicorn

    path = f"/mcp/{quote(gateway.profile.name, safe='')}" if gateway.profile.name else "/mcp"
    application = Application(gateway, guard, path=path)
    listening = _bind(host, port)
    config = uvicorn.Config(
        application,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    server = _server(uvicorn.Server)(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]), name="gateway")
    address = listening.getsockname()
    try:
        async with gateway.following():
            yield f"http://{address[0]}:{address[1]}{path}"
    finally:
        application.close()
        server.should_exit = True
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        listening.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sends small packets at once only where it can see that it is TCP.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise UsageError(
            f"The address {host}:{port} cannot be used: {error.strerror}.", hint="Choose another with --port."
        ) from None
    return listening


def _server(base: type[Any]) -> type[Any]:
    """A server that leaves signals to whoever runs it."""

    class Quiet(base):  # type: ignore[misc]
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Quiet

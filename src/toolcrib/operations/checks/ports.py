"""Loopback connections, which the gateway and sign-ins need."""

from __future__ import annotations

import asyncio
import socket

from toolcrib.operations.health import CheckContext, CheckResult, broken, ok

TIMEOUT = 5.0


async def check(context: CheckContext) -> list[CheckResult]:
    """Open a port and connect to it."""
    try:
        async with asyncio.timeout(TIMEOUT):
            port = await _connect()
    except (OSError, TimeoutError) as error:
        why = str(error) or "no response"
        return [
            broken("ports", f"Loopback cannot be used: {why}.", "Check the firewall and the lo interface.")
        ]
    return [ok("ports", f"Loopback works (tested on port {port}).")]


async def _connect() -> int:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port: int = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, family=socket.AF_INET)
        writer.close()
        return port

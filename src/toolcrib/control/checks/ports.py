"""Whether programs on this machine reach each other over loopback, as the gateway and sign-ins need it."""

from __future__ import annotations

import asyncio
import socket

from toolcrib.control.findings import Finding, Place, broken, well

PATIENCE = 5.0


async def check(place: Place) -> list[Finding]:
    """Open a port and connect to it."""
    try:
        async with asyncio.timeout(PATIENCE):
            port = await _knock()
    except (OSError, TimeoutError) as error:
        why = str(error) or "no answer"
        return [
            broken("ports", f"Loopback cannot be used: {why}.", "Check the firewall and the lo interface.")
        ]
    return [well("ports", f"Loopback answers (tried on port {port}).")]


async def _knock() -> int:
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port: int = server.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, family=socket.AF_INET)
        writer.close()
        return port

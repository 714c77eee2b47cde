"""Sends what is written in one turn of the event loop as one packet.

The server writes the head of a response and its body apart. On loopback each packet costs as much as a good
part of a call, and wakes the client for nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Gathering:
    """A transport that writes at the end of a turn, or when it closes; otherwise the one that it wraps."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._unwritten: list[bytes] = []
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        """Send this with whatever else is written in this turn."""
        if not self._unwritten:
            self._loop.call_soon(self._flush)
        self._unwritten.append(data)

    def close(self) -> None:
        """Close the connection when everything is sent."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def _flush(self) -> None:
        if self._unwritten:
            self._transport.writelines(self._unwritten)
            self._unwritten = []

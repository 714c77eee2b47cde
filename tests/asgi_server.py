"""Serves an ASGI application on loopback while a block runs, beside the test in its loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn

DEADLINE = 60.0


class _Server(uvicorn.Server):
    """Ends at once, instead of at the next tenth of a second, and leaves signals to the tests."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()
        self.leaving = asyncio.Event()

    def capture_signals(self) -> Any:
        return nullcontext()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self.up.set()
        await self.leaving.wait()


@asynccontextmanager
async def serving(
    app: Any, listening: socket.socket | None = None, *, lifespan: bool = False
) -> AsyncIterator[str]:
    """The address of the application, on this socket or a new one."""
    own = listening or socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="on" if lifespan else "off")
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[own]))
    try:
        await asyncio.wait_for(server.up.wait(), DEADLINE)
        yield f"http://127.0.0.1:{own.getsockname()[1]}"
    finally:
        server.force_exit = True
        server.leaving.set()
        await asyncio.wait([task], timeout=DEADLINE)
        own.close()

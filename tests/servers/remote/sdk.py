"""Runs the SDK's server as a process and connects sessions to it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.servers.sessions.negotiation import Era
from toolcrib.servers.sessions.session import Session, connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import http, sse

PROGRAM = Path(__file__).with_name("sdk_server.py")


@dataclass
class SdkServer:
    """A server process that can be killed and started again at the same address."""

    mode: str
    port: int = 0
    process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it is served."""
        return f"http://127.0.0.1:{self.port}/{'sse' if self.mode == 'sse' else 'mcp'}"

    async def start(self) -> None:
        """Start it and wait until it listens."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(PROGRAM), self.mode, str(self.port), stdout=asyncio.subprocess.PIPE
        )
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            self.port = int(await self.process.stdout.readline())

    async def kill(self) -> None:
        """End it at once."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def connect(self, era: Era, **options: Any) -> AbstractAsyncContextManager[Session]:
        """A session with it."""
        transport = sse if self.mode == "sse" else http
        spec = transport.Spec(url=self.url)
        context = LinkContext(server="remote")
        return connect("remote", lambda inbox: transport.open(spec, inbox, context), era=era, **options)


@asynccontextmanager
async def sdk_server(mode: str) -> AsyncIterator[SdkServer]:
    """A running server of this mode."""
    server = SdkServer(mode)
    try:
        await server.start()
        yield server
    finally:
        await server.kill()

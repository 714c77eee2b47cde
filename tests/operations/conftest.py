"""A host with a control socket, and a client that writes to it byte by byte."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.cli.host_connection import serve_operations
from toolcrib.host import Host, open_host

SMALL_SERVER = Path(__file__).parents[1] / "cli" / "small_server.py"
DEADLINE = 60.0


class RawClient:
    """The wire as it is."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, socket: Path) -> RawClient:
        """A connection that has heard the greeting."""
        client = cls(*await asyncio.open_unix_connection(socket, limit=2**26))
        assert set((await client.read())["hello"]) == {"protocol", "version", "pid"}
        client.write(json.dumps({"token": (socket.parent / "host.token").read_text()}).encode() + b"\n")
        return client

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self.writer.write(data)

    def ask(self, number: Any, operation: Any, params: Any = None) -> None:
        """Send a request."""
        self.write(json.dumps({"id": number, "operation": operation, "params": params}).encode() + b"\n")

    async def read(self) -> dict[str, Any]:
        """The next message."""
        async with asyncio.timeout(DEADLINE):
            found: dict[str, Any] = json.loads(await self.reader.readline())
        return found

    async def ended(self) -> bool:
        """True when the host closes the connection without another word."""
        async with asyncio.timeout(DEADLINE):
            try:
                return await self.reader.read() == b""
            except ConnectionError:
                return True

    def close(self) -> None:
        """Go away."""
        self.writer.transport.abort()


def entry(*arguments: str, **keys: Any) -> dict[str, Any]:
    """The config entry of the small server."""
    return {"command": sys.executable, "args": [str(SMALL_SERVER), *arguments], **keys}


def write_config(home: Path, servers: dict[str, Any]) -> None:
    """Save a config file with these servers."""
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder with a short name: the address of a socket has little room."""
    folder = Path(tempfile.mkdtemp(prefix="tc-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def host(home: Path) -> AsyncIterator[Host]:
    """A host with the demo and one small server, ready and listening."""
    demo = {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    write_config(home, {"demo": demo, "small": entry("--notes", str(home / "notes"))})
    async with open_host(home) as host, serve_operations(host):
        await host.ready()
        yield host


@pytest.fixture
async def client(host: Host) -> AsyncIterator[RawClient]:
    """A client of that host."""
    client = await RawClient.connect(host.paths.socket)
    yield client
    client.close()

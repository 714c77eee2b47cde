"""The other end of the local socket: runs operations in the host that is already there.

Light to import: a command that finds a running host loads nothing of one.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolcrib.config.paths import Paths
from toolcrib.control import failures, wire
from toolcrib.control.addresses import address_of
from toolcrib.control.needs import OnEvent
from toolcrib.control.peers import is_trusted
from toolcrib.errors import ConnectionLost, NoHost, ResultTooLarge, ToolcribError

GREETING_TIMEOUT = 10.0
"""Seconds for the first line; a host whose loop is stuck does not answer in any time."""


class RemoteCrib:
    """Operations of a running host, one at a time."""

    running = True

    def __init__(self, socket: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.socket = socket
        self.hello: dict[str, Any] = {}
        self._reader = reader
        self._writer = writer
        self._count = 0

    async def run(
        self, operation: str, params: dict[str, Any] | None = None, on_event: OnEvent | None = None
    ) -> Any:
        """Run an operation; raises the host's own error, or `ConnectionLost` when the host ends meanwhile."""
        self._count += 1
        number = self._count
        try:
            self._writer.write(wire.encode({"id": number, "operation": operation, "params": params or {}}))
            await self._writer.drain()
            return await self._answer(number, on_event)
        except asyncio.LimitOverrunError:
            raise ResultTooLarge("The host's answer is too large for a command.") from None
        except (OSError, asyncio.IncompleteReadError):
            raise ConnectionLost(
                "The host ended before it answered.", hint="Start it again with: toolcrib up"
            ) from None

    async def greet(self) -> bool:
        """Wait for the host's first line; False when it hung up instead, as one does that is just ending.

        Raises `NoHost` when the line does not come or cannot be understood.
        """
        try:
            async with asyncio.timeout(GREETING_TIMEOUT):
                first = wire.decode(await self._reader.readuntil(b"\n"))
        except (ConnectionError, asyncio.IncompleteReadError):
            return False
        except (TimeoutError, OSError, asyncio.LimitOverrunError, ToolcribError):
            raise NoHost(
                f"Something listens on {self.socket} and does not answer.",
                hint="The host may be stopped or stuck: end it and start it again with: toolcrib up",
            ) from None
        if "error" in first:
            raise failures.from_json(first["error"])
        self.hello = dict(first.get("hello") or {})
        if self.hello.get("protocol") != wire.PROTOCOL:
            raise NoHost(
                f"The running host is of another version ({self.hello.get('version', 'unknown')}).",
                hint="Restart it: end it with Ctrl-C, then toolcrib up",
            )
        return True

    async def _answer(self, number: int, on_event: OnEvent | None) -> Any:
        while True:
            message = wire.decode(await self._reader.readuntil(b"\n"))
            if message.get("id") not in (number, None):
                continue
            if "error" in message:
                raise failures.from_json(message["error"])
            if "result" in message:
                return message["result"]
            if on_event is not None:
                on_event(message.get("event"))


@asynccontextmanager
async def connected(paths: Paths) -> AsyncIterator[RemoteCrib | None]:
    """The running host of this home, or None where nobody listens."""
    if not _is_ours(paths.socket):
        yield None
        return
    try:
        with address_of(paths.socket) as address:
            reader, writer = await asyncio.open_unix_connection(address, limit=wire.MAX_ANSWER)
    except (FileNotFoundError, ConnectionRefusedError):
        yield None
        return
    except OSError as error:
        raise NoHost(
            f"The host's socket {paths.socket} cannot be opened: {error.strerror}.",
            hint="Check the permissions of its folder.",
        ) from error
    try:
        if not is_trusted(writer.get_extra_info("socket")):
            raise NoHost(
                f"Another user listens on {paths.socket}.", hint="Set TOOLCRIB_HOME to another folder."
            )
        crib = RemoteCrib(paths.socket, reader, writer)
        writer.write(wire.encode({"token": _token(paths)}))
        yield crib if await crib.greet() else None
    finally:
        writer.transport.abort()


def _token(paths: Paths) -> str:
    try:
        return paths.token_file.read_text()
    except OSError:
        return ""  # the host says so, or is one of an earlier version, which says that


def _is_ours(socket: Path) -> bool:
    """True for a socket in a folder of this user's own: nobody else could have put it there."""
    try:
        folder, found = socket.parent.lstat(), socket.lstat()
    except OSError:
        return False
    return folder.st_uid in (os.getuid(), 0) and stat.S_ISSOCK(found.st_mode)

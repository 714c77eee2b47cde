"""The client end of the local socket: runs operations in a running host. Errors and timeout if the host does
not respond, and the error if it has another version.

Light to import: a command that finds a running host loads no host code.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolcrib.config.paths import Paths
from toolcrib.errors import ConnectionLost, NoHost, ResultTooLarge, ToolcribError
from toolcrib.ipc import wire
from toolcrib.ipc.wire import address_of, is_trusted

OnEvent = Callable[[Any], None]

GREETING_TIMEOUT = 10.0
"""Seconds to wait for the first line; a host whose loop is stuck never sends it."""


class HostConnection:
    """Runs operations in the host, one at a time."""

    running = True

    def __init__(self, socket: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.socket = socket
        self.hello: dict[str, Any] = {}
        self._reader = reader
        self._writer = writer
        self._count = 0

    async def run(self, operation: str, params: dict[str, Any], on_event: OnEvent | None = None) -> Any:
        """Run an operation; raises the host's error, or `ConnectionLost` if the host ends meanwhile."""
        self._count += 1
        number = self._count
        try:
            self._writer.write(wire.encode({"id": number, "operation": operation, "params": params}))
            await self._writer.drain()
            return await self._answer(number, on_event)
        except asyncio.LimitOverrunError:
            raise ResultTooLarge("The host's answer is too large for a command.") from None
        except (OSError, asyncio.IncompleteReadError):
            raise ConnectionLost(
                "The host ended before it answered.", hint="Start it again with: toolcrib up"
            ) from None

    async def greet(self) -> bool:
        """Wait for the host's first line; False if the host closed the connection, as it does while it ends.

        Raises `NoHost` if the line does not arrive or is not valid.
        """
        try:
            async with asyncio.timeout(GREETING_TIMEOUT):
                first = wire.decode(await self._reader.readuntil(b"\n"))
        except (ConnectionError, asyncio.IncompleteReadError):
            return False
        except (TimeoutError, OSError, asyncio.LimitOverrunError, ToolcribError):
            raise NoHost(
                f"The host at {self.socket} does not respond.",
                hint="It may be paused or stuck: end it, then start it again with: toolcrib up",
            ) from None
        if "error" in first:
            raise _failure(first["error"])
        self.hello = dict(first.get("hello") or {})
        if self.hello.get("protocol") != wire.PROTOCOL:
            raise NoHost(
                f"The running host has another version ({self.hello.get('version', 'unknown')}).",
                hint="Restart it: stop it with Ctrl-C, then run: toolcrib up",
            )
        return True

    async def _answer(self, number: int, on_event: OnEvent | None) -> Any:
        while True:
            message = wire.decode(await self._reader.readuntil(b"\n"))
            answered = message.get("id")
            if answered is not None and (type(answered) is not int or answered != number):
                continue
            if "error" in message:
                raise _failure(message["error"])
            if "result" in message:
                return message["result"]
            if on_event is not None:
                on_event(message.get("event"))


@asynccontextmanager
async def connected(paths: Paths) -> AsyncIterator[HostConnection | None]:
    """A connection to the running host of this home, or None if there is none."""
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
        connection = HostConnection(paths.socket, reader, writer)
        writer.write(wire.encode({"token": _token(paths)}))
        yield connection if await connection.greet() else None
    finally:
        writer.transport.abort()


def _failure(error: dict[str, Any]) -> ToolcribError:
    from toolcrib.schema.failures import from_json  # only needed for errors

    return from_json(error)


def _token(paths: Paths) -> str:
    try:
        return paths.token_file.read_text()
    except OSError:
        return ""  # the host reports it, or that its version differs


def _is_ours(socket: Path) -> bool:
    """True for a socket in a folder of this user, where no other user could have created it."""
    try:
        folder, found = socket.parent.lstat(), socket.lstat()
    except OSError:
        return False
    return folder.st_uid in (os.getuid(), 0) and stat.S_ISSOCK(found.st_mode)

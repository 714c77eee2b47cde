"""The running host's local surface: a socket for this user alone, many clients at once.

A client that goes away cancels its operations; one that does not read holds up nobody but itself.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib import __version__
from toolcrib.control import failures, wire
from toolcrib.control.peers import is_trusted
from toolcrib.errors import ConfigError, ServerUnavailable, ToolcribError, UsageError
from toolcrib.loading import preload

if TYPE_CHECKING:
    from toolcrib.host import Host

logger = logging.getLogger(__name__)

BACKLOG = 128
MAX_CLIENTS = 256
MAX_OPERATIONS = 64
"""At once, of one client."""


@asynccontextmanager
async def serve(host: Host, *, max_request: int = wire.MAX_REQUEST) -> AsyncIterator[Path]:
    """Answer on the home's socket while the block runs. The caller holds the home: nobody else listens."""
    path = host.paths.socket
    listener = _listen(path)
    clients: set[asyncio.Task[None]] = set()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own: the one that asyncio would make complains when it is cancelled.
        serving = _Client(host, reader, writer).run(crowded=len(clients) >= MAX_CLIENTS)
        client = asyncio.create_task(serving, name="control client")
        clients.add(client)
        client.add_done_callback(clients.discard)

    server = await asyncio.start_unix_server(welcome, sock=listener, limit=max_request)
    try:
        yield path
    finally:
        server.close()
        path.unlink(missing_ok=True)
        await _end(clients)


def _listen(path: Path) -> socket.socket:
    """A socket that only this user can reach: its folder lets nobody else in, and neither does its mode."""
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(path))
        path.chmod(0o600)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"The socket {path} cannot be made: {error.strerror}.",
            hint="Set TOOLCRIB_HOME to a folder on a local disk.",
        ) from error
    return listener


def _remove_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} is in the way: it is no socket.", hint="Move it elsewhere.")
    path.unlink()


async def _end(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(set(tasks))


class _Client:
    """One connection and its operations."""

    def __init__(self, host: Host, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._host = host
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._operations: set[asyncio.Task[None]] = set()

    async def run(self, *, crowded: bool) -> None:
        try:
            if not is_trusted(self._writer.get_extra_info("socket")):
                return
            await self._send(
                {"hello": {"protocol": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}}
            )
            if crowded:
                await self._refuse(None, ServerUnavailable("The host has too many clients at the moment."))
                return
            await self._read()
        except OSError:
            pass  # The client is gone, and nobody is left to be told.
        finally:
            await _end(self._operations)
            # Not a graceful close: that would wait for a client that does not read.
            self._writer.transport.abort()

    async def _read(self) -> None:
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                await self._refuse(
                    None, UsageError("The request is too long.", hint="Pass large data as files.")
                )
                return
            await self._accept(line)

    async def _accept(self, line: bytes) -> None:
        number: Any = None
        try:
            request = wire.decode(line)
            number = request.get("id")
            if not isinstance(request.get("operation"), str):
                raise UsageError("The request names no operation.")
            if len(self._operations) >= MAX_OPERATIONS:
                raise ServerUnavailable("This client has too many operations under way.")
        except ToolcribError as error:
            await self._refuse(number, error)
            return
        task = asyncio.create_task(
            self._operate(number, request["operation"], request.get("params")),
            name=f"operation {request['operation'][:40]}",
        )
        self._operations.add(task)
        task.add_done_callback(self._operations.discard)

    async def _operate(self, number: Any, operation: str, params: object) -> None:
        async def emit(event: Any) -> None:
            await self._send({"id": number, "event": event})

        with suppress(ConnectionError):
            try:
                await preload("toolcrib.control.dispatch")  # not before somebody wants something
                from toolcrib.control.dispatch import perform

                result = await perform(self._host, operation, params, emit)
            except ToolcribError as error:
                await self._refuse(number, error)
            except ConnectionError:
                raise
            except Exception as error:  # the edge of the surface
                logger.exception("operation failed", extra={"operation": operation})
                await self._refuse(number, unexpected(error))
            else:
                await self._send({"id": number, "result": result})

    async def _refuse(self, number: Any, error: ToolcribError) -> None:
        await self._send({"id": number, "error": failures.to_json(error)})

    async def _send(self, message: dict[str, Any]) -> None:
        line = wire.encode(message)
        async with self._writing:
            self._writer.write(line)
            await self._writer.drain()


def unexpected(error: Exception) -> ToolcribError:
    """What a person is told of a mistake of ours."""
    return ToolcribError(
        f"Something went wrong inside: {type(error).__name__}: {error}",
        hint="This is a fault of Toolcrib. The traceback is in the host's log; please report it.",
    )

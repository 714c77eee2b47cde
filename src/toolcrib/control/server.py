"""The running host's local surface: a socket for this user alone, many clients at once.

A client that goes away cancels its operations; one that does not read holds up nobody but itself.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import secrets
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib import __version__
from toolcrib.config.atomic import write_atomic
from toolcrib.control import failures, wire
from toolcrib.control.addresses import address_of
from toolcrib.control.peers import is_trusted, peer_pid
from toolcrib.errors import ConfigError, Denied, ServerUnavailable, ToolcribError, UsageError
from toolcrib.loading import preload
from toolcrib.servers.processes.ancestry import runs_in_terminal

if TYPE_CHECKING:
    from toolcrib.host import Host

logger = logging.getLogger(__name__)

BACKLOG = 128
MAX_CLIENTS = 256
MAX_OPERATIONS = 64
"""At once, of one client."""
TOKEN_TIMEOUT = 30.0
"""Seconds for a client to show that it can read the token."""
_NOT_FROM_TERMINAL = Denied(
    "A command of a terminal cannot control the host that runs it.",
    hint="Run it in a terminal of your own.",
)
_WRONG_TOKEN = Denied(
    "The client did not send the token of this host.", hint="It is in host.token beside the socket."
)


@asynccontextmanager
async def serve(host: Host, *, max_request: int = wire.MAX_REQUEST) -> AsyncIterator[Path]:
    """Answer on the home's socket while the block runs. The caller holds the home: nobody else listens."""
    path, token_file = host.paths.socket, host.paths.token_file
    token = secrets.token_urlsafe(32)
    write_atomic(token_file, token.encode())
    clients: set[asyncio.Task[None]] = set()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A task of our own: the one that asyncio would make complains when it is cancelled.
        serving = _Client(host, token, reader, writer).run(crowded=len(clients) >= MAX_CLIENTS)
        client = asyncio.create_task(serving, name="control client")
        clients.add(client)
        client.add_done_callback(clients.discard)

    with address_of(path) as address:
        server = await asyncio.start_unix_server(welcome, sock=_listen(path, address), limit=max_request)
        try:
            yield path
        finally:
            server.close()
            path.unlink(missing_ok=True)
            token_file.unlink(missing_ok=True)
            await _end(clients)


def _listen(path: Path, address: str) -> socket.socket:
    """A socket that only this user can reach: its folder lets nobody else in, and neither does its mode."""
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(address)
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

    def __init__(
        self, host: Host, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._host = host
        self._token = token
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._operations: set[asyncio.Task[None]] = set()

    async def run(self, *, crowded: bool) -> None:
        try:
            connection = self._writer.get_extra_info("socket")
            if not is_trusted(connection):
                return
            if (pid := peer_pid(connection)) and runs_in_terminal(pid):
                await self._knows_token()  # a line that is left unread would take our answer with it
                await self._refuse(None, _NOT_FROM_TERMINAL)
                return
            await self._send(
                {"hello": {"protocol": wire.PROTOCOL, "version": __version__, "pid": os.getpid()}}
            )
            if crowded:
                await self._refuse(None, ServerUnavailable("The host has too many clients at the moment."))
                return
            if not await self._knows_token():
                await self._refuse(None, _WRONG_TOKEN)
                return
            await self._read()
        except OSError:
            pass  # The client is gone, and nobody is left to be told.
        finally:
            await _end(self._operations)
            # Not a graceful close: that would wait for a client that does not read.
            self._writer.transport.abort()

    async def _knows_token(self) -> bool:
        try:
            async with asyncio.timeout(TOKEN_TIMEOUT):
                told = wire.decode(await self._reader.readuntil(b"\n")).get("token")
        except (ToolcribError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return False
        return isinstance(told, str) and hmac.compare_digest(told.encode(), self._token.encode())

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

"""The local socket of a running host: for this user only, with many clients at once. Limits of clients and of
operations per client, how long a client has to send the token, and refused sandboxed programs.

A client that disconnects cancels its operations; one that does not read delays only itself.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import secrets
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from toolcrib.config.paths import Paths
from toolcrib.config.safe_files import write_atomic
from toolcrib.errors import ConfigError, Denied, ServerUnavailable, ToolcribError, UsageError
from toolcrib.ipc import wire
from toolcrib.ipc.wire import address_of, is_trusted, peer_pid
from toolcrib.schema import failures
from toolcrib.schema.system_failures import explained
from toolcrib.serverkit.encoding import HEAVY, is_large, parse_any, weight
from toolcrib.servers.processes.origin import runs_in_sandbox
from toolcrib.tasks import TaskSet, cancel_and_wait
from toolcrib.version import __version__

logger = logging.getLogger(__name__)

Emit = Callable[[Any], Awaitable[None]]
Perform = Callable[[str, object, Emit], Awaitable[Any]]
"""Runs an operation: its name, its parameters, and where its events go."""

BACKLOG = 128
MAX_CLIENTS = 256
MAX_OPERATIONS = 64
"""Per client, at the same time."""
PIECE = 1024 * 1024
"""Bytes of an answer that are written at once."""
TOKEN_TIMEOUT = 30.0
"""Seconds a client has to send the token."""
_NOT_FROM_SANDBOX = Denied(
    "A program in a sandbox of Toolcrib cannot control the host that runs it.",
    hint="Run it in your own terminal.",
)
_WRONG_TOKEN = Denied(
    "The client did not send the token of this host.", hint="It is in host.token beside the socket."
)


@asynccontextmanager
async def serve(
    paths: Paths, perform: Perform, *, max_request: int = wire.MAX_REQUEST
) -> AsyncIterator[Path]:
    """Serve the home's socket while the block runs. The caller holds the home's lock."""
    path, token_file = paths.socket, paths.token_file
    token = secrets.token_urlsafe(32)
    write_atomic(token_file, token.encode())
    clients = TaskSet()

    def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not a coroutine callback: asyncio would log an error when its task is cancelled.
        serving = _Client(perform, token, reader, writer).run(crowded=len(clients) >= MAX_CLIENTS)
        clients.start(serving, name="control client")

    with address_of(path) as address:
        server = await asyncio.start_unix_server(welcome, sock=_listen(path, address), limit=max_request)
        try:
            yield path
        finally:
            server.close()
            path.unlink(missing_ok=True)
            token_file.unlink(missing_ok=True)
            await cancel_and_wait(*clients)


def _listen(path: Path, address: str) -> socket.socket:
    """A socket that only this user can reach, by the modes of the socket and of its folder."""
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
            f"The socket {path} cannot be created: {error.strerror}.",
            hint="Set TOOLCRIB_HOME to a folder on a local disk.",
        ) from error
    return listener


def _remove_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} is in the way: it is not a socket.", hint="Move it elsewhere.")
    path.unlink()


class _Client:
    """One connection and its operations."""

    def __init__(
        self, perform: Perform, token: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._perform = perform
        self._token = token
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()
        self._operations = TaskSet()

    async def run(self, *, crowded: bool) -> None:
        try:
            connection = self._writer.get_extra_info("socket")
            if not is_trusted(connection):
                return
            if (pid := peer_pid(connection)) and runs_in_sandbox(pid):
                await self._knows_token()  # closing with an unread line would discard our answer
                await self._refuse(None, _NOT_FROM_SANDBOX)
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
            pass  # The client disconnected.
        finally:
            await cancel_and_wait(*self._operations)
            # Not a graceful close: that would wait for a client that does not read.
            self._writer.transport.abort()

    async def _knows_token(self) -> bool:
        try:
            async with asyncio.timeout(TOKEN_TIMEOUT):
                token = wire.decode(await self._reader.readuntil(b"\n")).get("token")
        except (ToolcribError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return False
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self._token.encode())

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
            request = await _parsed(line)
            number = request.get("id")
            if not isinstance(request.get("operation"), str):
                raise UsageError("The request names no operation.")
            if len(self._operations) >= MAX_OPERATIONS:
                raise ServerUnavailable("This client has too many operations running.")
        except ToolcribError as error:
            await self._refuse(number, error)
            return
        self._operations.start(
            self._operate(number, request["operation"], request.get("params")),
            name=f"operation {request['operation'][:40]}",
        )

    async def _operate(self, number: Any, operation: str, params: object) -> None:
        async def emit(event: Any) -> None:
            await self._send({"id": number, "event": event})

        with suppress(ConnectionError):
            try:
                result = await self._perform(operation, params, emit)
            except ToolcribError as error:
                await self._refuse(number, error)
            except ConnectionError:
                raise
            except Exception as error:  # the edge of the surface
                logger.exception("operation failed", extra={"operation": operation})
                await self._refuse(number, unexpected(error))
            else:
                await self._send_result(number, result)

    async def _send_result(self, number: Any, result: Any) -> None:
        try:
            await self._send({"id": number, "result": result})
        except ValueError as error:
            text = f"The result cannot be written as JSON: {error}."
            await self._refuse(number, ToolcribError(text, hint="Ask for a smaller part of it."))

    async def _refuse(self, number: Any, error: ToolcribError) -> None:
        await self._send({"id": number, "error": failures.to_json(error)})

    async def _send(self, message: dict[str, Any]) -> None:
        line = await _encoded(message)
        async with self._writing:
            for start in range(0, len(line), PIECE):  # the transport copies what it cannot send yet
                self._writer.write(line[start : start + PIECE])
                await self._writer.drain()


async def _parsed(line: bytes) -> dict[str, Any]:
    """The message of a line; a large one is parsed in a thread. Raises `UsageError`."""
    if not is_large(line):
        return wire.decode(line)
    try:
        message = await parse_any(line)
    except ValueError as error:
        raise UsageError(f"The request is refused: {error}.") from None
    if not isinstance(message, dict):
        raise UsageError("The line is not an object.")
    return message


async def _encoded(message: dict[str, Any]) -> bytes:
    if weight(message) <= HEAVY:
        return wire.encode(message)
    from toolcrib.serverkit.encoding import encode_large  # rarely needed

    return await asyncio.to_thread(encode_large, message, wire.encode_value, b"\n")


def unexpected(error: Exception) -> ToolcribError:
    """An unexpected exception as an error for the user."""
    return explained(error) or ToolcribError(
        f"Internal error: {type(error).__name__}: {error}",
        hint="This is a bug in Toolcrib. Please report it with the traceback from the host's log.",
    )

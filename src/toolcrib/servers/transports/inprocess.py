"""A server in this process: a Python module, called without pipes or JSON. Has the errors for a module that
cannot be imported or is no MCP server.

The module is imported in a thread, so that a slow import blocks nothing. A tool that raises, exits or hangs
affects only its own call. But a coroutine that computes for long without awaiting blocks the whole process;
a server with such tools should run in its own process. A server object of the MCP SDK (or fastmcp) runs in a
task owned by the block, over in-memory streams.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from toolcrib.config.sections import Section, full_text, texts
from toolcrib.errors import CallFailed, ConfigError, ConnectionLost, ToolcribError
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.threads import in_thread
from toolcrib.servers.metered import ServerShare, note_event
from toolcrib.servers.transport import Inbox, Link, LinkContext, Message, Traits

if TYPE_CHECKING:
    from toolcrib.servers.transports import stdio

logger = logging.getLogger(__name__)

TRAITS = Traits(in_process=True, exportable=True, first_word="module")

DEFAULT_FACTORY = "create"
DEFAULT_ATTRIBUTE = "server"
CLOSE_GRACE = 1.0
"""Seconds a server has to end after its input ended, and again after it is cancelled."""
_INNER = ("_lowlevel_server", "_mcp_server")
"""The attributes of the SDK's `MCPServer` and fastmcp's `FastMCP` that hold the runnable server."""


@dataclass(frozen=True, kw_only=True)
class InprocessSpec(Section):
    """The keys of an `inprocess` entry."""

    module: str = full_text()
    """`package.module`, with `create(args)` or `server`, or `package.module:attribute`."""
    args: tuple[str, ...] = texts()


Spec = InprocessSpec


def resolve(spec: InprocessSpec, context: LinkContext) -> stdio.StdioSpec:
    """The command that runs the module as its own process; raises `ConfigError` for `module:attribute`."""
    from toolcrib.servers.transports import stdio

    if ":" in spec.module:
        raise ConfigError(f"{spec.module!r} is an object in a module, which no command can start.")
    return stdio.StdioSpec(command=sys.executable, args=("-m", spec.module, *spec.args))


class DirectLink:
    """Runs a `ToolServer` in the sender's task; cancelling the sender stops the tool."""

    pid = None

    def __init__(self, server: ToolServer, inbox: Inbox) -> None:
        self._session = server.session()
        self._inbox = inbox

    async def send(self, message: Message) -> None:
        """The reply is in the inbox when this returns."""
        answer = await self._session.respond(message, self._inbox.receive)
        if answer is not None:
            self._inbox.receive(answer)

    def close(self) -> None:
        self._session.end()
        self._session.cancel_all()


@asynccontextmanager
async def open(spec: InprocessSpec, inbox: Inbox, context: LinkContext) -> AsyncIterator[Link]:  # noqa: A001
    """Load the server; raises `ConfigError`."""
    server, made_here = await in_thread(_load, spec, context.home)
    if not isinstance(server, ToolServer):
        async with open_sdk_server(find_runnable(server, spec.module), inbox, context) as link:
            yield link
        return
    direct = DirectLink(server, inbox)
    try:
        yield direct
    finally:
        direct.close()
        if made_here:
            server.close()


def _load(spec: InprocessSpec, home: Path | None) -> tuple[Any, bool]:
    """The server object, and whether it was created for this link."""
    name, _, attribute = spec.module.partition(":")
    module = _import(name)
    if not attribute and callable(factory := getattr(module, DEFAULT_FACTORY, None)):
        return _make(factory, spec, home), True
    found = _attribute(module, attribute or DEFAULT_ATTRIBUTE)
    if inspect.isfunction(found):
        return _make(found, spec, home), True
    if spec.args:
        raise ConfigError(
            f"{spec.module!r} is a server object, which takes no 'args'.",
            hint=f"Remove 'args', or add a function `{DEFAULT_FACTORY}(args)` to the module.",
        )
    return found, False


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The module {name!r} cannot be imported: {error}.",
            hint="Install its package in Toolcrib's environment, or run the server in its own process.",
        ) from error
    except (Exception, SystemExit) as error:  # a module may raise anything on import
        raise ConfigError(
            f"Importing the module {name!r} failed: {type(error).__name__}: {error}.",
            hint="Try `python -c 'import …'` in the environment that Toolcrib runs in.",
        ) from error


def _attribute(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise ConfigError(
                f"The module {module.__name__!r} has no {name!r}.",
                hint="Name the server as `package.module:attribute`.",
            )
    return found


def _make(factory: Callable[..., Any], spec: InprocessSpec, home: Path | None) -> Any:
    """A factory may take the arguments, and as `home` the folder that holds the user's accounts."""
    try:
        taken = inspect.signature(factory).parameters
        named = {"home": home} if "home" in taken else {}
        return factory(list(spec.args), **named) if taken else factory()
    except ToolcribError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    except (Exception, SystemExit) as error:  # third-party code
        raise ConfigError(
            f"{spec.module!r} could not create its server: {type(error).__name__}: {error}.",
            hint="Check its 'args'.",
        ) from error


def find_runnable(server: Any, module: str) -> Any:
    """The object that runs over two streams; raises `ConfigError` if `server` is not a server."""
    for candidate in (*(getattr(server, name, None) for name in _INNER), server):
        if hasattr(candidate, "create_initialization_options") and hasattr(candidate, "run"):
            return candidate
    raise ConfigError(
        f"{module!r} is not an MCP server but a {type(server).__name__}.",
        hint="Name a ToolServer, or a server object of the MCP SDK, as `package.module:attribute`.",
    )


class SdkLink:
    """Sends messages to the server's stream; `listen` receives the answers."""

    pid = None

    def __init__(self, streams: Any, inbox: Inbox, context: LinkContext) -> None:
        self._read, self._write = streams
        self._inbox = inbox
        self._context = context
        self._share = ServerShare(context.on_flood)
        self._expected = 0

    @property
    def throttled(self) -> float:
        return self._share.throttled

    async def send(self, message: Message) -> None:
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter
        from pydantic import ValidationError

        if "id" in message and "method" in message:
            self._expected += 1
        try:
            parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
            await self._write.send(SessionMessage(parsed))
        except ValidationError as error:
            raise CallFailed(f"The message cannot be sent to {self._context.server}: {error}") from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise ConnectionLost(f"The server {self._context.server} has ended.") from None

    async def listen(self) -> None:
        """Receive messages until the server ends; one that floods waits until it is read."""
        try:
            await self._share.metered(self._receive())
        finally:
            self._share.close()

    async def _receive(self) -> None:
        async for item in self._read:
            if isinstance(item, Exception):
                self._context.on_log(f"{type(item).__name__}: {item}")
            else:
                message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                expected = "method" not in message and self._expected > 0
                self._expected -= expected
                note_event(answer=expected)
                self._inbox.receive(message)


@asynccontextmanager
async def open_sdk_server(runnable: Any, inbox: Inbox, context: LinkContext) -> AsyncIterator[SdkLink]:
    """Run the server while the block runs."""
    from mcp.shared.memory import create_client_server_memory_streams

    leaving = False

    def ended(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("in-process server failed", exc_info=error, extra={"server": context.server})
            context.on_log(f"{type(error).__name__}: {error}")
        if not leaving:
            reason = f": {error}" if error else ""
            inbox.lost(ConnectionLost(f"The server {context.server} ended unexpectedly{reason}."))

    async with create_client_server_memory_streams() as (client_side, server_side):
        link = SdkLink(client_side, inbox, context)
        options = runnable.create_initialization_options()
        serving = asyncio.create_task(runnable.run(*server_side, options))
        listening = asyncio.create_task(link.listen())
        serving.add_done_callback(ended)
        try:
            yield link
        finally:
            leaving = True
            await client_side[1].aclose()
            await _end(serving, patience=CLOSE_GRACE)
            await _end(listening, patience=0)


async def _end(task: asyncio.Task[None], *, patience: float) -> None:
    """Wait for a task, then cancel it, then abandon it, so that a stuck server cannot block us."""
    await asyncio.wait((task,), timeout=patience)
    if not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CLOSE_GRACE)
    if task.done() and not task.cancelled():
        task.exception()  # already logged

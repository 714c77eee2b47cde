"""A server object of the MCP SDK (or of fastmcp, which wraps one) as a link, over streams in memory.

The server runs in one task that the block owns: it ends with the block within a bounded time. When it ends
earlier, the inbox learns that the link is lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.errors import CallFailed, ConfigError, ConnectionLost
from toolcrib.servers.link import Inbox, LinkContext, Message

logger = logging.getLogger(__name__)

CLOSE_GRACE = 1.0
"""Seconds that a server has to end by itself once its input has ended, and again once it is cancelled."""
_INNER = ("_lowlevel_server", "_mcp_server")
"""Where the SDK's `MCPServer` and fastmcp's `FastMCP` keep the server that knows how to run."""


def find_runnable(server: Any, module: str) -> Any:
    """The object that runs over two streams; raises `ConfigError` when `server` is no server at all."""
    for candidate in (*(getattr(server, name, None) for name in _INNER), server):
        if hasattr(candidate, "create_initialization_options") and hasattr(candidate, "run"):
            return candidate
    raise ConfigError(
        f"What {module!r} names is no MCP server but {type(server).__name__}.",
        hint="Name a ToolServer, or a server object of the MCP SDK, as `package.module:attribute`.",
    )


class SdkLink:
    """Hands messages to the server's stream; answers come back through `listen`."""

    pid = None

    def __init__(self, streams: Any, inbox: Inbox, context: LinkContext) -> None:
        self._read, self._write = streams
        self._inbox = inbox
        self._context = context

    async def send(self, message: Message) -> None:
        """Returns once the server has taken the message up."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter
        from pydantic import ValidationError

        try:
            parsed = jsonrpc_message_adapter.validate_python(message, by_name=False)
            await self._write.send(SessionMessage(parsed))
        except ValidationError as error:
            raise CallFailed(f"The message cannot be sent to {self._context.server}: {error}") from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise ConnectionLost(f"The server {self._context.server} has ended.") from None

    async def listen(self) -> None:
        """Pass on what the server says until it ends."""
        async for item in self._read:
            if isinstance(item, Exception):
                self._context.on_log(f"{type(item).__name__}: {item}")
            else:
                message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                self._inbox.receive(message)


@asynccontextmanager
async def open_sdk_server(runnable: Any, inbox: Inbox, context: LinkContext) -> AsyncIterator[SdkLink]:
    """Run the server for as long as the block lasts."""
    from mcp.shared.memory import create_client_server_memory_streams

    leaving = False

    def ended(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("in-process server failed", exc_info=error, extra={"server": context.server})
            context.on_log(f"{type(error).__name__}: {error}")
        if not leaving:
            reason = f": {error}" if error else ""
            inbox.lost(ConnectionLost(f"The server {context.server} ended by itself{reason}."))

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
    """Wait for a task, then cancel it, then leave it: a server that ignores everything cannot hold us."""
    await asyncio.wait((task,), timeout=patience)
    if not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=CLOSE_GRACE)
    if task.done() and not task.cancelled():
        task.exception()  # it has been told; asyncio need not tell it again

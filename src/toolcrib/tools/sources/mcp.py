"""Tools of MCP servers, run by the pool that keeps them and puts their definitions into the registry."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from toolcrib.errors import UnknownServer
from toolcrib.schema.tools import Origin, Tool, ToolCall, ToolResult
from toolcrib.tools.naming import BORDER, PREFIX
from toolcrib.tools.ports import OnProgress


class ServerCalls(Protocol):
    """What this source needs of the server pool."""

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        *,
        timeout: float | None,
        on_progress: OnProgress | None = None,
        session: str | None = None,
        repeatable: bool = False,
        check: Callable[[Any], None] | None = None,
    ) -> ToolResult:
        """Call a server's tool by its own name; without a timeout the server's configured one holds.

        `check` is called with the tool's definition as the server lists it now, when the call had to wait
        for the server; it raises when the call must not be made.
        """

    def starting(self) -> list[str]:
        """The servers that are starting and offer no tools yet."""

    async def session(self, server: str) -> object:
        """The live session of a server; waits for its start, and raises when there is none in time."""


class McpTools:
    """The source of all MCP servers' tools; `patience` knows the seconds of single ones.

    `check` compares a tool with its definition as its server lists it now, and raises when it changed.
    """

    id = "mcp"
    origin: Origin = "mcp"

    def __init__(
        self,
        servers: ServerCalls,
        patience: Callable[[Tool], float | None] = lambda tool: None,
        check: Callable[[Tool, Any], None] = lambda tool, listed: None,
    ) -> None:
        self._servers = servers
        self._check = check
        self.default_timeout = patience
        """That of the tool, where it has one; else it is left to the server's own configuration."""

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        """None: servers come and go, and list their tools themselves."""
        return {}

    async def arrive(self, name: str) -> bool:
        """Wait for the server whose tool has this public name; False when no such server is starting."""
        wanted = name.removeprefix(PREFIX)
        server = next((one for one in self._servers.starting() if wanted.startswith(one + BORDER)), None)
        if server is None:
            return False
        await self._servers.session(server)
        return True

    def call(self, call: ToolCall, on_progress: OnProgress | None) -> Coroutine[Any, Any, ToolResult]:
        """Hand the call to the tool's server, whose coroutine it is; there is nothing to wait for here."""
        tool = call.tool
        if tool.server is None:
            raise UnknownServer(f"The tool {tool.name} names no server.")
        arguments = call.arguments if type(call.arguments) is dict else dict(call.arguments)
        return self._servers.call_tool(
            tool.server,
            tool.definition.name,
            arguments,
            timeout=call.timeout,
            on_progress=on_progress,
            session=call.principal.session,
            repeatable=tool.definition.repeatable,
            check=partial(self._check, tool) if tool.pinned else None,
        )

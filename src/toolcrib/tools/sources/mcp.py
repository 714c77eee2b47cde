"""Tools of MCP servers, called through the server pool; a call waits for a server that is still starting."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.errors import UnknownServer
from toolcrib.schema.tools import Origin, Tool, ToolCall, ToolResult
from toolcrib.serverkit.caller_context import asked_call
from toolcrib.tools.names import BORDER, PREFIX
from toolcrib.tools.ports import OnProgress

if TYPE_CHECKING:
    from toolcrib.servers.pool import Pool


class McpTools:
    """All MCP servers' tools; `patience` returns the timeout of a single tool.

    `check` compares a tool with its current definition and raises if it changed.
    """

    id = "mcp"
    origin: Origin = "mcp"

    def __init__(
        self,
        servers: Pool,
        patience: Callable[[Tool], float | None] = lambda tool: None,
        check: Callable[[Tool, Any], None] = lambda tool, listed: None,
    ) -> None:
        self._servers = servers
        self._check = check
        self.default_timeout = patience
        """The tool's own timeout; None leaves it to the server's setting."""

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        """Empty: servers come and go, and the pool lists their tools."""
        return {}

    async def arrive(self, name: str) -> bool:
        """Wait for the starting server of this tool; False if no such server is starting."""
        wanted = name.removeprefix(PREFIX)
        server = next(
            (known for known in self._servers.starting() if wanted.startswith(known + BORDER)), None
        )
        if server is None:
            return False
        await self._servers.session(server)
        return True

    def call(self, call: ToolCall, on_progress: OnProgress | None) -> Coroutine[Any, Any, ToolResult]:
        """Returns the coroutine of the tool's server."""
        tool = call.tool
        if tool.server is None:
            raise UnknownServer(f"The tool {tool.name} names no server.")
        asked = asked_call.get()
        if asked is not None and asked != call.id:  # of an earlier call in the same task
            asked_call.set(None)
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

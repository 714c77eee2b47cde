"""Tools registered under a server's name with no process behind them, and their default timeout.

terminal = InlineServer("terminal")

@terminal.tool()
def get_environment() -> str:
    "Say where we are."
    return platform.platform()

inline = InlineTools([terminal])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from toolcrib.errors import UnknownTool, UsageError
from toolcrib.schema.tools import Origin, Tool, ToolCall, ToolResult
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.tools.functions import CallableTool, FunctionOptions, run_function
from toolcrib.tools.ports import OnProgress

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_TIMEOUT = 60.0


class InlineServer:
    """A server name with functions; `tool` is the decorator."""

    def __init__(self, name: str, *, timeout: float | None = DEFAULT_TIMEOUT) -> None:
        self.name = name
        self.timeout = timeout
        self.functions: dict[str, CallableTool] = {}

    def tool(self, **options: Unpack[FunctionOptions]) -> Callable[[F], F]:
        """Register the decorated function, which is returned unchanged."""

        def register(function: F) -> F:
            self.add(FunctionTool.from_function(function, **options))
            return function

        return register

    def add(self, function: CallableTool) -> None:
        if function.name in self.functions:
            raise UsageError(f"{self.name} already has a tool called {function.name}.")
        self.functions[function.name] = function


class InlineTools:
    id = "inline"
    origin: Origin = "inline"

    def __init__(self, servers: Iterable[InlineServer] = ()) -> None:
        self._servers = {server.name: server for server in servers}

    def add(self, server: InlineServer) -> None:
        if server.name in self._servers:
            raise UsageError(f"There is already an inline server called {server.name}.")
        self._servers[server.name] = server

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        return {
            server.name: [function.definition for function in server.functions.values()]
            for server in self._servers.values()
        }

    def default_timeout(self, tool: Tool) -> float | None:
        server = self._servers.get(tool.server or "")
        return DEFAULT_TIMEOUT if server is None else server.timeout

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        server = self._servers.get(call.tool.server or "")
        function = server.functions.get(call.tool.definition.name) if server is not None else None
        if function is None:
            raise UnknownTool(f"The inline tool {call.tool.name} no longer exists.")
        return await run_function(function, call, on_progress)

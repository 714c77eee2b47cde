"""Tools that are typed Python functions in this process, under bare names: which names are allowed, and their
default timeout.

native = NativeTools()

@native.tool(read_only=True)
def word_count(text: str) -> int:
    "Count the words of a text."
    return len(text.split())
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from toolcrib.errors import UnknownTool, UsageError
from toolcrib.schema.tools import Origin, Tool, ToolCall, ToolResult
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.tools.functions import FunctionOptions, run_function
from toolcrib.tools.names import is_native_name
from toolcrib.tools.ports import OnProgress

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_TIMEOUT = 60.0


class NativeTools:
    """Native tools; `tool` is the decorator."""

    id = "native"
    origin: Origin = "native"

    def __init__(self, *, timeout: float | None = DEFAULT_TIMEOUT) -> None:
        self._timeout = timeout
        self._functions: dict[str, FunctionTool] = {}
        self._timeouts: dict[str, float | None] = {}

    def tool(self, **options: Unpack[FunctionOptions]) -> Callable[[F], F]:
        """Register the decorated function, which is returned unchanged."""

        def register(function: F) -> F:
            self.add(FunctionTool.from_function(function, **options))
            return function

        return register

    def add(self, function: FunctionTool, *, timeout: float | None = None) -> None:
        """Add a function tool; its name must be unused and valid without a server prefix.

        `timeout` overrides the timeout for all native tools.
        """
        if not is_native_name(function.name):
            raise UsageError(
                f"{function.name!r} cannot be the name of a native tool.",
                hint="Begin with a letter; use letters, digits, - and single underscores, at most 64.",
            )
        if function.name in self._functions:
            raise UsageError(f"There is already a native tool called {function.name}.")
        self._functions[function.name] = function
        if timeout is not None:
            self._timeouts[function.name] = timeout

    def tools(self) -> Mapping[str | None, Sequence[Mapping[str, Any]]]:
        return {None: [function.definition for function in self._functions.values()]}

    def default_timeout(self, tool: Tool) -> float | None:
        return self._timeouts.get(tool.definition.name, self._timeout)

    async def call(self, call: ToolCall, on_progress: OnProgress | None) -> ToolResult:
        function = self._functions.get(call.tool.definition.name)
        if function is None:
            raise UnknownTool(f"The native tool {call.tool.name} no longer exists.")
        return await run_function(function, call, on_progress)

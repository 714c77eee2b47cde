"""A named set of tools that speaks MCP of both eras, without the SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from toolcrib.errors import UsageError
from toolcrib.serverkit.data_flow import Reach
from toolcrib.serverkit.functions import FunctionTool
from toolcrib.serverkit.protocol import Message
from toolcrib.serverkit.readiness import READY, Readiness, readiness_result
from toolcrib.serverkit.session import HostMethod, Notify, ServedTool, ServerSession

F = TypeVar("F", bound=Callable[..., Any])


class ToolServer:
    """Collects tools with `@server.tool()` and answers for them."""

    def __init__(self, name: str, version: str, instructions: str = "") -> None:
        self.name = name
        self.instructions = instructions
        self.info = {"name": name, "version": version}
        self.host_methods: dict[str, HostMethod] = {}
        """Methods for Toolcrib itself, which are not part of MCP, by name."""
        self._tools: dict[str, ServedTool] = {}
        self._at_close: list[Callable[[], None]] = []
        self._own_session: ServerSession | None = None

    @property
    def tools(self) -> Mapping[str, ServedTool]:
        """All tools by name, in the order in which they were added."""
        return MappingProxyType(self._tools)

    def tool(
        self,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        read_only: bool = False,
        destructive: bool | None = None,
        idempotent: bool = False,
        open_world: bool | None = None,
        quick: bool = False,
        outside: bool = False,
        private: bool = False,
        reach: Reach | None = None,
        preview: Callable[..., Any] | None = None,
    ) -> Callable[[F], F]:
        """Decorate a function to offer it; the arguments are those of `FunctionTool.from_function`."""

        def offer(function: F) -> F:
            self.add(
                FunctionTool.from_function(
                    function,
                    name=name,
                    title=title,
                    description=description,
                    read_only=read_only,
                    destructive=destructive,
                    idempotent=idempotent,
                    open_world=open_world,
                    quick=quick,
                    outside=outside,
                    private=private,
                    reach=reach,
                    preview=preview,
                )
            )
            return function

        return offer

    def add(self, tool: ServedTool) -> None:
        """Offer a tool; raises `UsageError` when its name is taken."""
        name = str(tool.definition["name"])
        if name in self._tools:
            raise UsageError(f"{self.name} already has a tool {name!r}.", hint="Give it another name.")
        self._tools[name] = tool

    def requires(self, check: Readiness) -> None:
        """Offer the tools only while `check` finds nothing missing; the host asks again at intervals."""

        async def answer(params: Mapping[str, Any]) -> dict[str, Any]:
            return readiness_result(await check())

        self.host_methods[READY] = answer

    def session(self) -> ServerSession:
        """A conversation of its own; each connection needs one."""
        return ServerSession(self)

    async def respond(self, message: Message, notify: Notify) -> Message | None:
        """Answer one message, for a server that has a single connection; see `ServerSession.respond`."""
        if self._own_session is None:
            self._own_session = self.session()
        return await self._own_session.respond(message, notify)

    def at_close(self, callback: Callable[[], None]) -> None:
        """Have something released when the server is no longer needed."""
        self._at_close.append(callback)

    def close(self) -> None:
        """Release what the tools hold; they cannot be called afterwards."""
        while self._at_close:
            self._at_close.pop()()

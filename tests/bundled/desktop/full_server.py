"""A server with all tools on the shared display, and calls as a model makes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.context import ToolContext
from toolcrib.serverkit.server import ToolServer


class FullServer:
    def __init__(self, backend: Backend | None, home: Path, **settings: Any) -> None:
        self.session = DesktopSession(SessionSettings(home=home, **settings))
        if backend is not None:
            self.session.backend = _already_open(backend)  # type: ignore[method-assign]
        self.server = ToolServer("desktop", "0")
        offer_profile(self.server, self.session, "full")

    async def call(self, tool: str, context: ToolContext | None = None, **arguments: Any) -> dict[str, Any]:
        return await self.server.tools[tool].call(arguments, context)

    async def data(self, tool: str, **arguments: Any) -> Any:
        result = await self.call(tool, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    async def refused(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])


def _already_open(backend: Backend) -> Callable[..., Any]:
    async def opened(context: object = None) -> Backend:
        return backend

    return opened

"""All tools of the server, called as a client would, on the shared display."""

from __future__ import annotations

import subprocess
from typing import Any

from tests.bundled.desktop.conftest import eventually
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.session import DesktopSession, SessionSettings
from toolcrib.bundled.desktop.tools import offer_profile
from toolcrib.serverkit.server import ToolServer


class OpenedSession(DesktopSession):
    """A session on a desktop that is open already."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(SessionSettings())
        self._opened = backend

    async def _open(self) -> Backend:
        return self._opened


class FullTools:
    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.session = OpenedSession(backend)
        self.server = ToolServer("desktop", "0")
        offer_profile(self.server, self.session, "full")

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.server.tools[tool].call(arguments)

    async def data(self, tool: str, **arguments: Any) -> Any:
        result = await self.result(tool, **arguments)
        assert not result["isError"], result["content"][0]["text"]
        return result["structuredContent"]

    async def reason(self, tool: str, **arguments: Any) -> str:
        """The reason of a failure, which the text explains."""
        result = await self.result(tool, **arguments)
        assert result["isError"], result
        error = result["structuredContent"]["error"]
        assert result["content"][0]["text"].startswith(error["message"])
        return str(error["reason"])

    async def window(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """The first window of a process, waited for."""

        async def look() -> Any:
            listed = await self.data("list_windows", parent=f"applications/{process.pid}")
            return listed["windows"]

        found: dict[str, Any] = (await eventually(look))[0]
        return found

    async def element(self, process: subprocess.Popen[bytes], **selector: Any) -> dict[str, Any]:
        """The first element that matches, waited for."""
        await self.window(process)
        found = await self.data("find_elements", parent=str(process.pid), selector=selector, wait=30)
        assert found["elements"], f"no {selector}"
        first: dict[str, Any] = found["elements"][0]
        return first

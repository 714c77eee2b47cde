"""A host with the desktop server on the display of the tests, and a user who answers its questions."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy
import pytest

from tests.approvals.people import Person
from toolcrib.approvals.question import ApprovalAnswer
from toolcrib.bundled.desktop.headless import HeadlessDisplay
from toolcrib.host import Host, open_host
from toolcrib.schema.tools import Principal

CHAT = ApprovalAnswer(allow=True, scope="chat")
_SHARED = ("DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
_NAMES = {
    "element": ("element", "element_id"),
    "application": ("application", "parent"),
    "program": ("name", "id"),
    "window": ("window", "window_id"),
    "keys": ("keys", "key"),
}


@dataclass
class Desktop:
    """Calls tools of the desktop as an agent does."""

    host: Host
    agent: Principal
    user: Person

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        given = {self._parameter(tool, name): value for name, value in arguments.items()}
        return dict(await self.host.call(f"desktop__{tool}", given, principal=self.agent))

    async def data(self, tool: str, **arguments: Any) -> Any:
        result = await self.result(tool, **arguments)
        assert not result.get("isError"), result["content"][0]["text"]
        return result["structuredContent"]

    async def failure(self, tool: str, **arguments: Any) -> str:
        result = await self.result(tool, **arguments)
        assert result["isError"], result
        return str(result["content"][0]["text"])

    async def element(self, application: int, **selector: Any) -> str:
        """The id of the first match, waited for."""
        found = await self.data("find_elements", application=str(application), selector=selector, wait=20)
        assert found["elements"], f"no {selector}"
        return str(found["elements"][0]["id"])

    def _parameter(self, tool: str, name: str) -> str:
        """The tool's own name for it."""
        found = next(each for each in self.host.tools("desktop") if each.definition.name == tool)
        known = found.definition.raw["inputSchema"]["properties"]
        return next((each for each in _NAMES.get(name, ()) if each in known), name)

    @property
    def titles(self) -> list[str]:
        """What the questions so far were about."""
        return [question.grant.label if question.grant else question.tool for question in self.user.questions]


@asynccontextmanager
async def desktop(
    home: Path,
    display: HeadlessDisplay,
    monkeypatch: pytest.MonkeyPatch,
    *answers: ApprovalAnswer,
    profile: str = "full",
    **settings: Any,
) -> AsyncIterator[Desktop]:
    for name in _SHARED:
        monkeypatch.setenv(name, display.target.environment[name])
    entry = {
        "type": "inprocess",
        "module": "toolcrib.bundled.desktop",
        "args": ["--profile", profile],
        **settings,
    }
    user = Person(*answers)
    async with open_host(home) as host:
        host.core.config_store.add_server("desktop", entry)
        await host.reload()
        await host.servers.settle()
        async with host.session(mode="on_miss", asker=user) as agent:
            yield Desktop(host, agent, user)


def pixels(picture: str) -> numpy.ndarray:
    decoded: numpy.ndarray = cv2.imdecode(
        numpy.frombuffer(base64.b64decode(picture), numpy.uint8), cv2.IMREAD_COLOR
    )
    return decoded

"""The live view of a display of its own: a picture for each change, and none without one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.asking import pixels
from toolcrib.bundled.desktop import create
from toolcrib.serverkit.server import ToolServer

DEADLINE = 60.0


async def ask(server: ToolServer, method: str, **params: Any) -> dict[str, Any]:
    async with asyncio.timeout(DEADLINE):
        return await server.host_methods[f"toolcrib/{method}"](params)


@pytest.mark.acceptance
async def test_the_screen_is_sent_when_it_changes_and_only_then(tmp_path: Path) -> None:
    server = create(["--headless", "640x480", "--profile", "full"], home=tmp_path)
    try:
        idle = await ask(server, "screen")
        assert (idle["own"], idle["open"]) == (True, False)
        waiting = asyncio.create_task(ask(server, "screen", seen=idle["seen"], wait=30))
        assert not (await server.tools["list_windows"].call({}))["isError"]
        opened = await waiting
        assert pixels(opened["picture"]).shape == (480, 640, 3)

        same = await ask(server, "screen", seen=opened["seen"], wait=0.2)
        assert same["seen"] == opened["seen"]
        assert "picture" not in same

        waiting = asyncio.create_task(ask(server, "screen", seen=opened["seen"], wait=30))
        name = next(each for each in ("id", "name") if each in _parameters(server, "open_application"))
        assert not (await server.tools["open_application"].call({name: "mousepad"}))["isError"]
        changed = await waiting
        assert changed["seen"] != opened["seen"]
        assert pixels(changed["picture"]).any()

        stopped = await ask(server, "stop", by="the page")
        assert stopped["stopped"] == "the page"
        after = await ask(server, "screen", seen=changed["seen"], wait=30)
        assert after["stopped"] == "the page"
        assert (await ask(server, "resume"))["stopped"] == ""
    finally:
        server.close()


def _parameters(server: ToolServer, tool: str) -> dict[str, Any]:
    found: dict[str, Any] = server.tools[tool].definition["inputSchema"]["properties"]
    return found


async def test_the_users_own_display_is_never_sent() -> None:
    server = create(["--profile", "full"])
    state = await ask(server, "screen")
    assert state["own"] is False
    assert "picture" not in state
    server.close()

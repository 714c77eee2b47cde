"""The server through a host and over stdio, with a real program on its own display."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.bundled.desktop.conftest import eventually
from toolcrib.bundled.desktop import create

HEADLESS = ["--headless", "1024x768"]


@pytest.mark.acceptance
async def test_a_host_lists_windows_and_takes_screenshots(crib: Any) -> None:
    crib.entry("desktop", {"type": "inprocess", "module": "toolcrib.bundled.desktop", "args": HEADLESS})
    async with crib.open() as host:
        listed = await host.call("desktop__list_windows", {})
        assert listed["structuredContent"] == {
            "space": "screen",
            "windows": [],
            "more": 0,
            "next_page_token": "",
        }
        shot = await host.call("desktop__take_screenshot", {"longest_side": 512})
        assert shot["structuredContent"]["scale"] == 0.5
        assert (shot["structuredContent"]["width"], shot["structuredContent"]["height"]) == (512, 384)


@pytest.mark.acceptance
async def test_a_host_fills_in_a_form_and_saves_a_file(crib: Any, tmp_path: Path) -> None:
    """Opens an editor, writes by element name and saves through its dialog, all through the host."""
    crib.entry("desktop", {"type": "inprocess", "module": "toolcrib.bundled.desktop", "args": HEADLESS})
    file = tmp_path / "letter.txt"
    async with crib.open() as host:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await host.call(f"desktop__{tool}", arguments)
            assert not result["isError"], result["content"][0]["text"]
            content: dict[str, Any] = result["structuredContent"]
            return content

        opened = await call("open_application", id="mousepad")
        assert Path(opened["home"]).is_relative_to(crib.home)
        application = str(opened["application"])
        area = {"role": "text", "attributes": {"multi_line": "true"}}
        await call("find_elements", parent=application, selector=area, wait=20)
        await call("write_element_value", selector=area, value="Dear Ada,", parent=application)
        await call("click_element", selector={"role": "menu item", "text": "Save As..."}, parent=application)
        name = {"role": "text", "attributes": {"single_line": "true", "visible": "true"}}
        found = await call("find_elements", parent=application, selector=name, wait=20)
        await call("write_element_value", element_id=found["elements"][0]["id"], value=str(file))
        save = {"role": "push button", "text": "Save", "attributes": {"visible": "true"}}
        await call("click_element", selector=save, parent=application)

        async def is_saved() -> bool:
            return file.exists() and bool(file.read_text())

        await eventually(is_saved)
    assert file.read_text().rstrip() == "Dear Ada,"


@pytest.mark.acceptance
async def test_the_official_client_uses_it_over_stdio(tmp_path: Path) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolcrib.bundled.desktop", *HEADLESS],
        env={**os.environ, "TOOLCRIB_HOME": str(tmp_path)},
    )
    async with Client(stdio_client(parameters)) as client:
        result = await client.call_tool("take_screenshot", {"format": "png"})
    assert not result.is_error
    picture = next(block for block in result.content if block.type == "image")
    assert base64.b64decode(picture.data).startswith(b"\x89PNG")
    assert result.structured_content["origin"] == {"x": 0, "y": 0}  # type: ignore[index]


async def test_every_tool_is_described_with_all_parameters() -> None:
    server = create(["--profile", "full"])
    for name, tool in server.tools.items():
        assert len(tool.definition["description"]) > 80, name
        assert "outputSchema" in tool.definition, name
        for parameter, schema in tool.definition["inputSchema"]["properties"].items():
            assert schema.get("description"), f"{name}.{parameter}"

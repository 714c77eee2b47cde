"""The server as a program and in the host: settings, declarations, and a run over stdio."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.bundled.websearch.website import Website
from toolcrib.bundled.websearch import create
from toolcrib.bundled.websearch.settings import read_settings
from toolcrib.errors import UsageError
from toolcrib.serverkit.data_flow import data_flow

PROSE = "The old bridge was closed on Monday after an inspection found cracks in two of its piers. "


async def test_the_official_client_reads_a_page_over_stdio(website: Website) -> None:
    url = website.put("/p", f"<html><body><article><h1>Hello</h1><p>{PROSE * 4}</p></article></body></html>")
    arguments = ["-m", "toolcrib.bundled.websearch", "--allow-private", website.endpoint]
    parameters = StdioServerParameters(command=sys.executable, args=arguments)
    async with asyncio.timeout(60), Client(stdio_client(parameters)) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search_web_pages", "read_website"]
        result = await client.call_tool("read_website", {"url": url})
        assert result.structured_content["text"].startswith("# Hello")  # type: ignore[index]
        refused = await client.call_tool("read_website", {"url": "http://127.0.0.1:9/"})
        assert refused.is_error


def test_help_is_shown_and_wrong_use_ends_with_two() -> None:
    command = [sys.executable, "-m", "toolcrib.bundled.websearch"]
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert (shown.returncode, shown.stdout[:46]) == (0, "usage: python -m toolcrib.bundled.websearch [-")
    wrong = subprocess.run(
        [*command, "--engines", "gogle"], capture_output=True, text=True, timeout=60, check=False
    )
    assert wrong.returncode == 2
    assert "There is no search engine 'gogle'" in wrong.stderr


def test_both_tools_declare_that_they_read_what_others_wrote() -> None:
    reaches = {"search_web_pages": "service", "read_website": "anybody"}
    for name, tool in create([]).tools.items():
        definition: dict[str, Any] = tool.definition
        flow = data_flow(definition)
        assert flow is not None
        assert (flow.outside, flow.private, flow.reach) == (True, False, reaches[name])
        assert definition["annotations"]["readOnlyHint"] is True
        assert definition["annotations"]["openWorldHint"] is True
        assert definition["outputSchema"]["required"]
        assert all(each.get("description") for each in definition["inputSchema"]["properties"].values())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--searxng", "ftp://x"],
        ["--searxng", "no address"],
        ["--allow-private", "no-port"],
        ["--max-bytes", "5"],
        ["--robots", "maybe"],
        ["--unknown"],
        ["word"],
    ],
)
def test_wrong_settings_are_refused(arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        create(arguments)


def test_a_key_is_read_from_the_environment_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "very-secret")
    settings = read_settings(["--brave-key-env", "TEAM_KEY"])
    assert settings.brave_key == "very-secret"
    assert "very-secret" not in repr(settings)


def test_the_server_starts_without_its_heavy_packages() -> None:
    program = "import sys, toolcrib.bundled.websearch as w; w.create([]); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    heavy = {"trafilatura", "lxml", "ddgs", "html_to_markdown", "pypdf", "playwright", "protego"}
    assert not {name.partition(".")[0] for name in done.stdout.split()} & heavy

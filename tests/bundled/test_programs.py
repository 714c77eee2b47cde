"""The bundled servers as programs, driven by lines and by the official SDK's client, in both eras."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

ERAS = pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
Mode = Literal["auto", "legacy"]
WORKBENCH = Path(__file__).parents[1] / "serverkit" / "programs" / "workbench.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False)


def answer(*arguments: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What a server says to one message; its input ends only then, however long that takes."""
    with subprocess.Popen(
        [sys.executable, "-m", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
    found: dict[str, Any] = json.loads(line)
    return found


@asynccontextmanager
async def connected(*arguments: str, mode: Mode) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=list(arguments))
    async with asyncio.timeout(60), Client(stdio_client(parameters), mode=mode) as client:
        yield client


@ERAS
async def test_the_official_client_lists_and_calls_the_demo(mode: Mode, version: str) -> None:
    async with connected("-m", "toolcrib.bundled.demo", mode=mode) as client:
        assert client.session.protocol_version == version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["add", "multiply", "divide", "current_time"]
        result = await client.call_tool("divide", {"a": 1, "b": 8})
        assert result.structured_content == {"result": "0.125" + "0" * 47}
        failed = await client.call_tool("divide", {"a": 1, "b": 0})
        assert failed.is_error
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("modulo", {"a": 1, "b": 0})


@ERAS
async def test_the_official_client_works_with_files(mode: Mode, version: str, tmp_path: Path) -> None:
    async with connected("-m", "toolcrib.bundled.filesystem", str(tmp_path), mode=mode) as client:
        await client.list_tools()
        await client.call_tool("write_file", {"path": "a", "content": "x" * 3_000_000})
        result = await client.call_tool("read_file", {"path": "a", "offset": 2_999_999})
        assert result.content[0].text == "x"  # type: ignore[union-attr]
        listed = await client.call_tool("list_directory", {"path": "."})
        assert listed.structured_content["entries"][0]["size"] == 3_000_000  # type: ignore[index]
        refused = await client.call_tool("read_file", {"path": "/etc/passwd"})
        assert refused.is_error


@ERAS
async def test_the_official_client_cancels_a_call(mode: Mode, version: str, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    began = asyncio.Event()

    async def heard(*_: Any) -> None:
        began.set()

    async with connected(str(WORKBENCH), mode=mode) as client:
        call = asyncio.create_task(
            client.call_tool("wait_for_ever", {"mark": str(mark)}, progress_callback=heard)
        )
        await began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        again = await client.call_tool("echo", {"text": "still here"})
        assert again.content[0].text == "still here"  # type: ignore[union-attr]
    assert mark.read_text() == "cancelled"


@ERAS
async def test_the_official_client_hears_progress(mode: Mode, version: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with connected(str(WORKBENCH), mode=mode) as client:
        await client.call_tool("steps", {"count": 2}, progress_callback=on_progress)
    assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]


def test_lines_in_lines_out() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "add", "arguments": {"a": 2, "b": 3}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert answer("toolcrib.bundled.demo", asked=asked)["result"]["content"][0]["text"] == "5"


@pytest.mark.parametrize("name", ["demo", "filesystem"])
def test_help_is_shown_and_nothing_served(name: str) -> None:
    done = run(f"toolcrib.bundled.{name}", "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: python -m toolcrib.bundled.{name}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["toolcrib.bundled.filesystem"], "at least one folder"),
        (["toolcrib.bundled.filesystem", "/nowhere/at/all"], "'/nowhere/at/all' cannot be used"),
        (["toolcrib.bundled.filesystem", "--unknown", "."], "--unknown"),
        (["toolcrib.bundled.demo", "x"], "takes no arguments"),
    ],
)
def test_wrong_use_ends_with_two_and_a_reason(arguments: list[str], told: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_protected_files_can_be_allowed_from_the_command_line(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "write_file", "arguments": {"path": ".env", "content": "x"}, "_meta": meta}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert answer("toolcrib.bundled.filesystem", str(tmp_path), asked=asked)["result"]["isError"]
    assert not (tmp_path / ".env").exists()
    answer("toolcrib.bundled.filesystem", "--allow-protected", str(tmp_path), asked=asked)
    assert (tmp_path / ".env").read_text() == "x"

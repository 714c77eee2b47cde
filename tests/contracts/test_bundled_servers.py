"""Every bundled server is made by `create`, lists described tools, and runs as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib import plugins
from toolcrib.serverkit import ToolServer
from toolcrib.servers.sessions.session import connect
from toolcrib.servers.transport import LinkContext
from toolcrib.servers.transports import inprocess

BUNDLED = "toolcrib.bundled"
NAMES = plugins.names(BUNDLED)
ARGUMENTS: dict[str, tuple[str, ...]] = {"filesystem": (".",)}
"""For servers that do not start without arguments."""


@pytest.mark.parametrize("name", NAMES)
async def test_a_bundled_server_lists_described_tools(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = plugins.find(BUNDLED, name)
    spec = inprocess.InprocessSpec(module=module.__name__, args=ARGUMENTS.get(name, ()))
    context = LinkContext(server=name)

    async with connect(name, lambda inbox: inprocess.open(spec, inbox, context)) as session:
        tools = await session.list_tools(timeout=30)

    assert tools
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)
    assert isinstance(module.create(spec.args), ToolServer)


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_server_runs_as_a_process_of_its_own(name: str) -> None:
    module = plugins.find(BUNDLED, name).__name__
    done = subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert module in done.stdout

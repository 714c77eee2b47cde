"""A server that broke on a newer package: the remedy is named, and done on a yes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.cli.terminal import terminal
from tests.servers.installers.packages import wheel


@pytest.fixture
def outdated(toolcrib: CommandLine, tmp_path: Path) -> str:
    """A server that needs what `mcp` had before its version 2."""
    tool_catalog = tmp_path / "shelf"
    wheel(tool_catalog, "1.9.0", name="mcp", before="OLD_NAME = 1")
    wheel(tool_catalog, "2.3.0", name="mcp")
    toolcrib.extra |= {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tool_catalog),
    }
    return str(wheel(tmp_path / "mine", requires="mcp", before="from mcp import OLD_NAME"))


def test_a_trial_names_the_remedy_and_the_command_that_does_it(toolcrib: CommandLine, outdated: str) -> None:
    assert toolcrib("add", "tiny", outdated, "--yes", "--no-test").code == 0

    tried = toolcrib("test", "tiny")
    assert "toolcrib install tiny --with 'mcp<2'" in tried.err
    assert toolcrib("test", "tiny", "--json").json["remedy"]["values"] == ["mcp<2"]
    assert toolcrib("install", "tiny", "--with", "mcp<2", "--yes").code == 0
    assert toolcrib("test", "tiny").code == 0


def test_on_a_yes_the_server_is_installed_again_and_works(toolcrib: CommandLine, outdated: str) -> None:
    with terminal(toolcrib, "add", "tiny", outdated) as screen:
        screen.expect("whenever Toolcrib runs? [y/N]")
        screen.type("y\n")
        screen.expect("Reinstall tiny with mcp<2? [Y/n]")
        screen.type("y\n")
        screen.expect("tiny works: 1 tool,")

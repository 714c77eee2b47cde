"""What the program says of itself, and what saying it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.command_line import CommandLine

COMMANDS = [
    "add",
    "audit",
    "call",
    "completion",
    "connect",
    "disable",
    "doctor",
    "enable",
    "export",
    "import",
    "install",
    "logs",
    "new",
    "off",
    "on",
    "outdated",
    "remove",
    "restart",
    "rollback",
    "search-servers",
    "secret",
    "servers",
    "start",
    "status",
    "stop",
    "test",
    "tools",
    "uninstall",
    "up",
    "update",
    "version",
]
HEAVY = ("mcp", "pydantic", "httpx2", "rich", "keyring", "starlette", "jsonschema_rs", "uvloop", "sqlite3")


def test_the_help_names_every_command(toolcrib: CommandLine) -> None:
    answer = toolcrib("--help")

    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.splitlines() if line.startswith("  ") and line.split()]
    assert set(COMMANDS) <= set(listed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(toolcrib: CommandLine, name: str) -> None:
    answer = toolcrib(name, "--help")

    assert answer.code == 0
    assert answer.out.startswith(f"Usage: toolcrib {name}")
    assert "--json" in answer.out


@pytest.mark.parametrize(
    "statement", ["import toolcrib", "from toolcrib.cli.entry import run; run(['--help'])"]
)
def test_neither_the_help_nor_the_import_loads_anything_heavy(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.splitlines()[-1].split()[1:])
    assert loaded.isdisjoint(HEAVY)


def test_the_version_is_told_in_three_ways(toolcrib: CommandLine) -> None:
    version = toolcrib("version", "--json").json["version"]

    assert toolcrib("--version").out.strip() == f"toolcrib {version}"
    assert toolcrib("version").out.startswith(f"toolcrib {version}\n")


def test_the_module_is_the_program(toolcrib: CommandLine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolcrib", "version"],
        capture_output=True,
        text=True,
        check=True,
        env=toolcrib.environment,
    )

    assert done.stdout == toolcrib("version").out


def test_a_command_that_needs_no_host_makes_no_home(toolcrib: CommandLine) -> None:
    toolcrib("--help")
    toolcrib("version")
    toolcrib("completion", "bash")

    assert list(toolcrib.home.iterdir()) == []

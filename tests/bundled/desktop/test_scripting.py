"""Scripts: off unless allowed, through the terminal's policy and sandbox, with limits."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.bundled.desktop.conftest import eventually
from tests.bundled.desktop.full_server import FullServer
from toolcrib.bundled.desktop import create
from toolcrib.bundled.desktop.scripts import scripts_folder
from toolcrib.errors import UsageError

OSASCRIPT = """#!/bin/sh
# Answers as osascript and osacompile do, for systems without them.
case "$0" in
*osacompile) grep -q 'end tell' "$5" || { echo "script.txt:1: error: Expected end" >&2; exit 1; } ;;
*) read -r line; echo "$2: $line" ;;
esac
"""


@pytest.fixture
def scripts(tmp_path: Path) -> FullServer:
    folder = tmp_path / "work"
    folder.mkdir()
    return FullServer(None, tmp_path / "home", scripts=folder)


async def test_scripts_are_off_unless_allowed(tmp_path: Path) -> None:
    closed = FullServer(None, tmp_path)
    refused = await closed.refused("execute_shell_command", command="true")
    assert "--allow-scripts" in refused
    assert "not allowed" in await closed.refused("execute_apple_script", script="beep")
    assert (await closed.data("validate_script", type="shell", script="echo"))["valid"]


def test_the_argument_or_the_variable_allows_scripts(tmp_path: Path) -> None:
    assert scripts_folder(None, {}) is None
    assert scripts_folder(None, {"MCP_SHELL_COMMANDS_ENABLED": "false"}) is None
    assert scripts_folder(None, {"MCP_SHELL_COMMANDS_ENABLED": "true"}) == Path.cwd()
    assert scripts_folder(str(tmp_path), {}) == tmp_path.resolve()
    with pytest.raises(UsageError, match="not a folder"):
        create(["--allow-scripts", str(tmp_path / "missing")])
    assert "execute_shell_command" in create(["--profile", "full", "--allow-scripts"]).tools


async def test_a_command_runs_with_its_arguments_input_and_variables(
    scripts: FullServer, tmp_path: Path
) -> None:
    result = await scripts.data(
        "execute_shell_command",
        command='cat; echo "$GREETING" "$PWD" >&2; printf "%s|"',
        args=["a b", "$HOME"],
        environment={"GREETING": "it's $x"},
        stdin="typed\n",
    )
    assert result["stdout"] == "typed\na b|$HOME|"
    assert result["stderr"] == f"it's $x {tmp_path / 'work'}\n"
    assert (result["exit_code"], result["success"], result["error"]) == (0, True, "")
    failed = await scripts.data("execute_shell_command", command="exit 3", shell="/bin/sh")
    assert (failed["exit_code"], failed["success"]) == (3, False)


async def test_the_policy_and_the_sandbox_of_the_terminal_apply(scripts: FullServer, tmp_path: Path) -> None:
    assert "refused: it removes" in await scripts.refused("execute_shell_command", command="rm -rf /")
    assert "refused: it removes" in await scripts.refused(
        "execute_shell_command", command="rm", args=["-rf", "/"]
    )
    outside = tmp_path / "outside.txt"
    tried = await scripts.data("execute_shell_command", command=f"touch {outside}; touch inside.txt")
    assert tried["success"]
    assert not outside.exists()
    assert (tmp_path / "work" / "inside.txt").exists()
    wrong = await scripts.refused("execute_shell_command", command="true", environment={"A B": "x"})
    assert "environment variable" in wrong
    assert "not a known shell" in await scripts.refused("execute_shell_command", command="1", shell="perl")


async def test_a_command_that_takes_too_long_ends_with_all_it_started(
    scripts: FullServer, tmp_path: Path
) -> None:
    result = await scripts.call(
        "execute_shell_command", command="sleep 300 & echo $!; sleep 300", timeout="0.3s"
    )
    assert result["isError"]
    assert result["structuredContent"]["error"] == "stopped after 0.3 s"
    big = await scripts.data("execute_shell_command", command="head -c 3000000 /dev/zero | tr '\\0' x")
    assert len(big["stdout"]) < 100_000
    assert "bytes left out" in big["stdout"]
    assert "60000 bytes" in await scripts.refused("execute_shell_command", command="cat", stdin="x" * 70_000)


async def test_a_cancelled_command_leaves_no_process(scripts: FullServer, tmp_path: Path) -> None:
    ready = tmp_path / "work" / "ready"
    running = asyncio.create_task(
        scripts.call("execute_shell_command", command="touch ready; exec sleep 300")
    )

    async def started() -> bool:
        return ready.exists()

    await eventually(started)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await scripts.data("execute_shell_command", command="echo next"))["stdout"] == "next\n"


async def test_a_shell_script_is_checked_without_running(scripts: FullServer, tmp_path: Path) -> None:
    script = f"touch {tmp_path}/work/ran; if true; then echo"
    wrong = await scripts.data("validate_script", type="SCRIPT_TYPE_SHELL", script=script)
    assert not wrong["valid"]
    assert "syntax error" in wrong["errors"][0]
    right = await scripts.data("validate_script", type="shell", script=f"touch {tmp_path}/work/ran")
    assert right["valid"]
    assert not (tmp_path / "work" / "ran").exists()
    warned = await scripts.data("validate_script", type="shell", script="rm -rf ~")
    assert warned["valid"]
    assert "would be refused" in warned["warnings"][0]


async def test_apple_scripts_need_macos(scripts: FullServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "needs macOS" in await scripts.refused("execute_apple_script", script="beep")
    assert "JavaScript for Automation" in await scripts.refused("execute_javascript", script="1")
    assert "osacompile" in await scripts.refused("validate_script", type="jxa", script="1")


async def test_osascript_gets_the_script_and_its_language(
    scripts: FullServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "work" / "bin"
    programs.mkdir()
    for name in ("osascript", "osacompile"):
        (programs / name).write_text(OSASCRIPT)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    ran = await scripts.data("execute_javascript", script="Application('Notes')")
    assert ran["output"] == "JavaScript: Application('Notes')\n"
    session = (await scripts.data("create_session"))["name"]
    await scripts.data("execute_apple_script", script="beep", session=session)
    history = (await scripts.data("get_session", name=session))["history"]
    assert [each["operation_type"] for each in history] == ["execute_applescript"]

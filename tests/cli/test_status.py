"""`toolcrib` alone says what is running and what to do next, and starts nothing."""

from __future__ import annotations

from pathlib import Path

from tests.cli.command_line import CommandLine, Process


def test_without_a_host_it_says_how_to_start_one_and_makes_nothing(toolcrib: CommandLine, home: Path) -> None:
    answer = toolcrib()

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Toolcrib is not running.\n")
    assert "(made by the first start)" in answer.out
    assert "toolcrib up " in answer.out
    assert not (home / "mcp.json").exists()


def test_without_a_host_it_lists_the_configured_servers(toolcrib: CommandLine, home: Path) -> None:
    toolcrib("servers")

    answer = toolcrib()

    assert "Servers   demo, filesystem, websearch\n" in answer.out
    assert toolcrib("--json").json == {
        "running": False,
        "config": str(home / "mcp.json"),
        "servers": ["demo", "filesystem", "websearch"],
    }


def test_a_broken_config_file_is_an_error_with_its_place(toolcrib: CommandLine, home: Path) -> None:
    (home / "mcp.json").write_text("{bad")

    answer = toolcrib()

    assert answer.code != 0
    assert "line 1, column 2" in answer.err


def test_a_running_host_is_shown_with_its_page_and_servers(toolcrib: CommandLine, up: Process) -> None:
    assert toolcrib("servers", "--wait", "20").code == 0

    answer = toolcrib()

    assert f"is running as process {up.pid} since " in answer.out
    assert "Page      http://127.0.0.1:" in answer.out
    assert "Servers   3 of 3 up\n" in answer.out
    assert "Model     none chosen\n" in answer.out
    assert "toolcrib chat --model demo" in answer.out
    found = toolcrib("status", "--json").json
    assert (found["running"], found["pid"], found["counts"]["up"]) == (True, up.pid, 3)


def test_switched_off_servers_and_a_chosen_model_are_named(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("settings", "set", "agent.model", "demo")
    toolcrib("off")

    answer = toolcrib()

    assert "Servers   all switched off; to turn them on: toolcrib on\n" in answer.out
    assert "Model     demo\n" in answer.out
    assert "toolcrib chat  " in answer.out

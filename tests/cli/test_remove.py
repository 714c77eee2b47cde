"""`toolcrib remove`: asks, and leaves a way back."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command_line import CommandLine, Process


def test_without_a_terminal_and_without_yes_nothing_is_removed(toolcrib: CommandLine) -> None:
    toolcrib("servers")

    answer = toolcrib("remove", "demo", "--json")

    assert (answer.code, answer.error["kind"]) == (4, "denied")
    assert "demo" in toolcrib.config()["mcpServers"]


def test_the_file_as_it_was_before_is_kept(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    before = toolcrib.config()

    outcome = toolcrib("remove", "demo", "--yes", "--json").json

    assert (outcome["name"], outcome["removed"]) == ("demo", True)
    assert "demo" not in toolcrib.config()["mcpServers"]
    assert json.loads(Path(outcome["backup"]).read_text()) == before


def test_the_text_says_where_the_way_back_is(toolcrib: CommandLine) -> None:
    assert "mcp.json.bak" in toolcrib("remove", "demo", "--yes").out


def test_a_server_that_is_not_there_is_not_asked_about(toolcrib: CommandLine) -> None:
    answer = toolcrib("remove", "dmeo", "--json")

    assert (answer.code, answer.error["kind"]) == (3, "unknown_server")
    assert "demo" in answer.error["hint"]


def test_a_secret_that_nobody_uses_any_more_is_mentioned(toolcrib: CommandLine) -> None:
    toolcrib.add("small", options=("--env", "API_KEY=sk-abcdefghijklmnop1234"))

    outcome = toolcrib("remove", "small", "--yes", "--json").json

    assert outcome["unused_secrets"] == ["small.API_KEY"]


def test_files_that_programs_saved_on_its_display_stay_and_are_named(toolcrib: CommandLine) -> None:
    assert toolcrib("add", "desktop", "--headless", "800x600", "--no-test").code == 0
    saved = toolcrib.home / "data" / "desktop" / "home" / "letter.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text("kept")

    assert str(saved.parent) in toolcrib("remove", "desktop", "--yes").err
    assert saved.read_text() == "kept"


def test_the_running_host_lets_it_go_at_once(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")

    toolcrib("remove", "small", "--yes")

    assert "small" not in toolcrib.states()
    assert toolcrib("call", "small__echo", "--json").error["kind"] == "unknown_tool"

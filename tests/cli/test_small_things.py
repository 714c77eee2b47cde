"""Small things that people type: each is answered in words that help."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.servers.installers.packages import bundle, manifest


def test_broken_json_is_not_blamed_on_the_config_file(toolcrib: CommandLine) -> None:
    error = toolcrib("add", "y", '{"command":', "--json").error

    assert "the text, line 1" in error["message"]
    assert "mcp.json" not in f"{error}"


def test_a_wrong_setting_is_named_without_a_line_of_the_file(toolcrib: CommandLine) -> None:
    for value in ("x", "-5", "999"):
        error = toolcrib("settings", "set", "retrieval.k", value, "--json").error
        assert error["message"].startswith("retrieval.k must be a whole number between 1 and 50")
        assert "line" not in f"{error}"


def test_a_negative_value_is_a_value(toolcrib: CommandLine) -> None:
    error = toolcrib("settings", "set", "callWait", "-5", "--json").error

    assert "callWait" in error["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("uninstall", "nope"),
        ("remove", "nope"),
        ("secret", "remove", "nope"),
        ("profiles", "remove", "nope"),
        ("policy", "remove", "nope"),
    ],
)
def test_what_is_not_there_is_not_asked_about(toolcrib: CommandLine, words: tuple[str, ...]) -> None:
    answer = toolcrib(*words, "--json")

    assert (answer.code, answer.error["kind"]) != (4, "denied")
    assert "nope" in answer.error["message"]


def test_what_is_there_is_asked_about_before_it_goes(toolcrib: CommandLine) -> None:
    toolcrib("secret", "set", "KEY", stdin="value")
    toolcrib("profiles", "add", "quiet")
    rule = toolcrib("policy", "add", "deny", "demo/add", "--json").json["id"]

    for words in (("secret", "remove", "KEY"), ("profiles", "remove", "quiet"), ("policy", "remove", rule)):
        assert toolcrib(*words).code == 4


def test_a_search_says_how_many_more_there_are(toolcrib: CommandLine) -> None:
    total = toolcrib("search-servers", "--no-registry", "--json").json["total"]

    assert f"Showing 5 of {total}" in toolcrib("search-servers", "-n", "5", "--no-registry").err
    assert "Showing" not in toolcrib("search-servers", "-n", "100", "--no-registry").err


def test_an_empty_home_is_refused(toolcrib: CommandLine) -> None:
    answer = toolcrib("--home", "", "servers")

    assert answer.code == 2
    assert "empty" in answer.err


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "0"])
def test_seconds_are_a_number_in_bounds(toolcrib: CommandLine, number: str) -> None:
    error = toolcrib("call", "demo__add", "a=1", "b=2", f"--timeout={number}", "--json").error

    assert error["kind"] == "usage"
    assert "--timeout" in error["message"]


def test_without_a_host_the_tool_that_was_meant_is_found_by_its_own_name(toolcrib: CommandLine) -> None:
    toolcrib("tools")

    error = toolcrib("call", "add", "a=1", "b=2", "--json").error

    assert error["hint"] == "Did you mean demo__add?"


def test_without_a_host_no_operation_is_named(toolcrib: CommandLine) -> None:
    error = toolcrib("open", "--json").error

    assert error["kind"] == "no_host"
    assert "page_address" not in f"{error}"


def test_a_chat_without_a_model_and_without_a_terminal_says_so(toolcrib: CommandLine) -> None:
    answer = toolcrib("chat", stdin="")

    assert answer.code == 2
    assert "--model" in answer.err


def test_one_of_a_kind_is_counted_as_one(toolcrib: CommandLine) -> None:
    assert "4 tools of 1 server," in toolcrib("tools", "demo").err


def test_help_is_never_cut(toolcrib: CommandLine) -> None:
    for words in ((), ("settings",), ("policy",), ("secret",), ("profiles",), ("tools",)):
        lines = toolcrib(*words, "--help").out.splitlines()
        assert [line for line in lines if line.endswith("...") and "Usage" not in line] == []


def test_a_server_that_was_given_up_says_how_to_start_it(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("add", "absent", "--yes", "--as-is", "--", "/no/such/program")

    assert "toolcrib start absent" in toolcrib("servers").out


@pytest.mark.parametrize(
    ("line", "word", "offered"),
    [
        ("toolcrib settings set retr", "3", "retrieval.k"),
        ("toolcrib chat --model d", "3", "demo"),
        ("toolcrib ask --model an", "3", "anthropic:"),
        ("toolcrib policy explain demo__a", "3", "demo__add"),
        ("toolcrib policy add allow demo/a", "4", "demo/add"),
    ],
)
def test_the_shell_completes(toolcrib: CommandLine, line: str, word: str, offered: str) -> None:
    toolcrib("tools")

    answer = toolcrib(_TOOLCRIB_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=word)

    assert offered in [one.partition(",")[2] for one in answer.out.splitlines()]


def test_a_small_bundle_has_a_size(toolcrib: CommandLine, tmp_path: Path) -> None:
    file = bundle(tmp_path / "hello.mcpb", manifest(user_config={}))

    shown = toolcrib("add", str(file), "--dry-run").err

    assert "0.0 MB" not in shown
    assert "bytes" in shown

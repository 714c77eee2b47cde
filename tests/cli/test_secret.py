"""`toolcrib secret`: never on the command line, never shown."""

from __future__ import annotations

from tests.cli.command_line import CommandLine, Process
from tests.cli.waiting import eventually

VALUE = "correct horse battery staple"


def test_a_secret_is_stored_from_stdin_and_never_shown(toolcrib: CommandLine) -> None:
    answer = toolcrib("secret", "set", "TOKEN", "--json", stdin=f"{VALUE}\n")

    assert answer.json == {"name": "TOKEN", "place": "file", "restarted": []}
    listed = toolcrib("secret", "list", "--json")
    assert listed.json == [{"name": "TOKEN", "place": "file", "servers": []}]
    assert VALUE not in listed.out + toolcrib("secret").out
    assert (toolcrib.home / "secrets.json").stat().st_mode & 0o077 == 0


def test_a_server_is_given_the_secret_without_its_line_break(toolcrib: CommandLine) -> None:
    toolcrib.add("small", options=("--env", "TOKEN=${secret:TOKEN}"))
    toolcrib("secret", "set", "TOKEN", stdin=f"{VALUE}\n")

    assert toolcrib("call", "small__variable", "name=TOKEN").out == f"{VALUE}\n"


def test_a_value_on_the_command_line_is_refused(toolcrib: CommandLine) -> None:
    assert toolcrib("secret", "set", "TOKEN", VALUE, "--json").code == 2


def test_an_empty_value_is_refused(toolcrib: CommandLine) -> None:
    assert toolcrib("secret", "set", "TOKEN", "--json").error["kind"] == "usage"


def test_a_missing_secret_is_listed_with_who_needs_it(toolcrib: CommandLine) -> None:
    toolcrib.add("small", options=("--env", "TOKEN=${secret:TOKEN}"))

    assert toolcrib("secret", "--json").json == [{"name": "TOKEN", "place": None, "servers": ["small"]}]


def test_storing_it_starts_the_server_that_waited_for_it(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small", options=("--env", "TOKEN=${secret:TOKEN}"))
    assert toolcrib.states()["small"] == "needs-config"

    outcome = toolcrib("secret", "set", "TOKEN", "--json", stdin=VALUE).json

    assert outcome["restarted"] == ["small"]
    eventually(lambda: toolcrib.states()["small"] == "ready")


def test_forgetting_asks_and_says_who_still_needs_it(toolcrib: CommandLine) -> None:
    toolcrib.add("small", options=("--env", "TOKEN=${secret:TOKEN}"))
    toolcrib("secret", "set", "TOKEN", stdin=VALUE)

    assert toolcrib("secret", "remove", "TOKEN", "--json").code == 4
    outcome = toolcrib("secret", "remove", "TOKEN", "--yes", "--json").json

    assert outcome == {"name": "TOKEN", "removed": True, "servers": ["small"]}
    assert toolcrib("secret", "remove", "TOKEN", "--yes", "--json").code == 3


def test_an_unknown_subcommand_is_guessed_at(toolcrib: CommandLine) -> None:
    answer = toolcrib("secret", "lst", "--json")

    assert (answer.code, answer.error["hint"]) == (2, "Did you mean list or set?")

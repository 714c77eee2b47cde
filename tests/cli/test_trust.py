"""`toolcrib trust`: what waits is shown in full, and only a yes lets it run."""

from __future__ import annotations

import json
import sys
from typing import IO

import pytest

from tests.cli.command_line import SMALL_SERVER, CommandLine
from tests.cli.terminal import terminal
from tests.cli.test_json_promise import examples, shape


@pytest.fixture
def waiting(toolcrib: CommandLine) -> CommandLine:
    """A home into whose file somebody wrote a server."""
    toolcrib.extra["TOOLCRIB_TRUST_CONFIG"] = "0"
    toolcrib("servers")
    document = toolcrib.config()
    document["mcpServers"]["small"] = {
        "command": sys.executable,
        "args": [str(SMALL_SERVER)],
        "env": {"API_TOKEN": "hunter22", "NODE_OPTIONS": "--require x\u202e.js"},
    }
    (toolcrib.home / "mcp.json").write_text(json.dumps(document))
    return toolcrib


def test_it_waits_says_so_and_is_not_tried_either(waiting: CommandLine) -> None:
    (small,) = [one for one in waiting("servers", "--json").json if one["name"] == "small"]
    tried = waiting("test", "small", "--json")

    assert small["state"] == "needs-trust"
    assert "toolcrib trust small" in small["hint"]
    assert (tried.code, tried.error["kind"]) == (4, "needs_trust")


def test_programs_look_first_and_nothing_is_agreed_to_by_looking(waiting: CommandLine) -> None:
    shown = waiting("trust", "--json").json
    (example,) = examples("trust")

    assert shape(shown["servers"]) == shape(example["servers"])
    assert shown["servers"][0]["launch"]["env"] == {"API_TOKEN": None, "NODE_OPTIONS": "--require x\u202e.js"}
    assert "hunter22" not in json.dumps(shown)
    assert waiting("trust", "--json").json == shown


def test_without_a_terminal_and_without_yes_nothing_is_agreed_to(waiting: CommandLine) -> None:
    answer = waiting("trust", "small")

    assert answer.code == 4
    assert "--yes" in answer.err
    assert waiting("trust", "--json").json["servers"]


def test_the_whole_launch_is_shown_with_nothing_hidden_before_the_question(waiting: CommandLine) -> None:
    with terminal(waiting, "trust", "small", columns=400) as person:
        person.expect("Trust small? [y/N]")
        person.type("n\n")
        assert person.wait() == 4
    assert str(SMALL_SERVER) in person.seen
    assert "API_TOKEN" in person.seen
    assert "hunter22" not in person.seen
    assert "\u202e" not in person.seen
    assert "can make the server run other code" in person.seen


def test_a_yes_lets_it_run_from_then_on(waiting: CommandLine) -> None:
    agreed = waiting("trust", "small", "--yes")

    assert agreed.code == 0
    assert waiting("test", "small", "--json").json["ok"]
    assert "Nothing is waiting" in waiting("trust").err
    assert "already trusted" in waiting("trust", "small").err


@pytest.mark.acceptance
def test_a_worker_names_a_server_without_trust_and_says_when_it_is_ready(waiting: CommandLine) -> None:
    process = waiting.start("worker", real=True)
    try:
        assert process.stderr is not None
        named = _line_with(process.stderr, "small is not ready")
        assert waiting("trust", "small", "--yes").code == 0
        ready = _line_with(process.stderr, "small is ready")
    finally:
        process.terminate()
        process.communicate(timeout=60)

    assert "needs-trust" in named
    assert "toolcrib trust small" in named
    assert ready


def _line_with(lines: IO[str], text: str) -> str:
    return next((line for line in lines if text in line), "")

"""`toolcrib settings`: shown, set, and let be again."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine, Process


def _own(toolcrib: CommandLine) -> object:
    return json.loads((toolcrib.home / "mcp.json").read_text()).get("toolcrib")


def test_a_setting_is_written_as_json_and_shown(toolcrib: CommandLine) -> None:
    answer = toolcrib("settings", "set", "retrieval.k", "8", "--json")

    assert answer.json["value"] == 8
    assert answer.json["before"] == 5
    assert answer.json["command"] == "toolcrib settings set retrieval.k 8"
    assert _own(toolcrib) == {"retrieval": {"k": 8}}
    assert "retrieval.k" in toolcrib("settings").out


def test_plain_text_needs_no_quotes_and_unset_takes_it_out_again(toolcrib: CommandLine) -> None:
    assert toolcrib("settings", "set", "agent.model", "ollama:qwen3:8b").code == 0
    assert _own(toolcrib) == {"agent": {"model": "ollama:qwen3:8b"}}
    assert toolcrib("settings", "unset", "agent.model", "--json").json["value"] == ""


def test_a_wrong_value_or_name_changes_nothing(toolcrib: CommandLine) -> None:
    before = toolcrib("settings", "--json").json["given"]

    assert toolcrib("settings", "set", "retrieval.k", "99", "--json").code != 0
    wrong = toolcrib("settings", "set", "retrieval.kk", "9", "--json")

    assert wrong.error["kind"] == "usage"
    assert "retrieval.k" in wrong.error["hint"]
    assert toolcrib("settings", "--json").json["given"] == before


def test_a_running_host_follows_at_once(toolcrib: CommandLine, up: Process) -> None:
    toolcrib("settings", "set", "retrieval.k", "3")

    found = toolcrib("settings", "list", "--all", "--json").json
    assert found["settings"]["retrieval"]["k"] == 3

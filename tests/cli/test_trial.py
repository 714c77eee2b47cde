"""`toolcrib test`: each step with its time, then a review."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine, Process


def test_a_good_server_passes_every_step(toolcrib: CommandLine) -> None:
    toolcrib.add("small")

    outcome = toolcrib("test", "small", "--json").json

    assert outcome["ok"] is True
    assert [step["name"] for step in outcome["steps"]] == ["resolve", "spawn", "handshake", "list"]
    assert all(set(step) == {"name", "ok", "ms", "detail"} for step in outcome["steps"])
    assert outcome["review"] == []
    assert outcome["tools"] == 7


def test_the_review_names_what_will_make_a_model_stumble(toolcrib: CommandLine) -> None:
    toolcrib.add("small", "--untidy")

    answer = toolcrib("test", "small")

    assert "untidy has no description." in answer.out
    assert "untidy: the parameter x has no type." in answer.out
    assert answer.out.count("✓") == 4


def test_the_step_that_fails_is_the_last_and_says_why(toolcrib: CommandLine) -> None:
    toolcrib.add("crashing", "--crash")

    answer = toolcrib("test", "crashing", "--json")

    assert answer.code == 5
    assert answer.json["ok"] is False
    assert [step["ok"] for step in answer.json["steps"]] == [True, True, False]
    assert "cannot go on" in answer.json["steps"][-1]["detail"]
    assert answer.json["error"]["hint"]
    assert "✗" in toolcrib("test", "crashing").out


def test_an_unset_variable_is_named(toolcrib: CommandLine) -> None:
    toolcrib("add", "small", "--yes", "--as-is", "--env", "KEY=${NOT_SET_ANYWHERE}", "--", "run")

    (step,) = toolcrib("test", "small", "--json").json["steps"]

    assert (step["name"], step["ok"]) == ("resolve", False)
    assert "NOT_SET_ANYWHERE" in step["detail"]


def test_an_entry_that_cannot_be_read_fails_at_the_first_step(toolcrib: CommandLine) -> None:
    (toolcrib.home / "mcp.json").write_text(json.dumps({"mcpServers": {"odd": {"command": 7}}}))

    answer = toolcrib("test", "odd", "--json")

    assert answer.code == 5
    assert answer.json["steps"][0]["name"] == "resolve"


def test_an_unknown_server_is_not_found(toolcrib: CommandLine) -> None:
    answer = toolcrib("test", "dmo", "--json")

    assert (answer.code, answer.error["kind"]) == (3, "unknown_server")


def test_the_running_host_tries_another_instance(toolcrib: CommandLine, up: Process) -> None:
    toolcrib.add("small")
    before = toolcrib("servers", "--json").json[-1]["pid"]

    answer = toolcrib("test", "small")

    assert answer.code == 0
    assert [line.split()[1] for line in answer.out.splitlines()] == ["resolve", "spawn", "handshake", "list"]
    assert toolcrib("servers", "--json").json[-1]["pid"] == before

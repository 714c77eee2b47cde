"""`toolcrib policy` and `toolcrib approvals`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine, Process
from tests.cli.test_json_promise import examples, shape

RUN = "terminal__run_command"


def explained(
    toolcrib: CommandLine, tool: str, arguments: dict[str, object], *more: str
) -> dict[str, object]:
    found: dict[str, object] = toolcrib(
        "policy", "explain", tool, "--args", json.dumps(arguments), *more, "--json"
    ).json
    return found


@pytest.mark.parametrize(
    ("command", "decision", "rule"),
    [("git status", "allow", "shell"), ("pytest", "ask", "shell"), ("rm -rf /", "deny", "shell")],
)
def test_a_decision_is_explained(toolcrib: CommandLine, command: str, decision: str, rule: str) -> None:
    found = explained(toolcrib, RUN, {"command": command})

    assert (found["decision"], found["rule"]) == (decision, rule)
    assert shape(found) == shape(examples("policy explain")[0])


def test_modes_and_callers_can_be_supposed(toolcrib: CommandLine) -> None:
    write = {"path": "x", "content": "y"}

    assert explained(toolcrib, "filesystem__write_file", write)["decision"] == "ask"
    assert explained(toolcrib, "filesystem__write_file", write, "--mode", "plan")["decision"] == "deny"
    assert explained(toolcrib, "filesystem__write_file", write, "--as", "cli")["decision"] == "allow"
    assert explained(toolcrib, "demo__add", {"a": 1, "b": 2})["rule"] == "own_reading"


def test_rules_are_added_listed_used_and_forgotten(toolcrib: CommandLine, up: Process) -> None:
    added = toolcrib(
        "policy", "add", "allow", "terminal/run_command", "--like", "command=make *",
        "--not-match", '{"command": "make; x"}', "--json",
    ).json  # fmt: skip
    listed = toolcrib("policy", "--json").json

    assert [rule["id"] for rule in listed["rules"]] == [added["id"]]
    assert shape(listed) == shape(examples("policy")[0])
    assert explained(toolcrib, RUN, {"command": "make test"})["rule"] == added["id"]
    assert explained(toolcrib, RUN, {"command": "make test; touch x"})["decision"] == "ask"
    assert toolcrib("policy", "remove", added["id"], "--yes", "--json").json["removed"]
    assert toolcrib("policy", "remove", added["id"], "--yes").code == 3
    assert explained(toolcrib, RUN, {"command": "make test"})["decision"] == "ask"


def test_a_rule_that_contradicts_its_examples_is_refused(toolcrib: CommandLine) -> None:
    refused = toolcrib(
        "policy",
        "add",
        "allow",
        "terminal/run_command",
        "--like",
        "command=make *",
        "--match",
        '{"command": "ls"}',
    )

    assert refused.code == 2
    assert "does not match its own example" in refused.err
    assert toolcrib("policy", "--json").json["rules"] == []


def test_nothing_waits_and_an_unknown_question_is_said_to_be_so(toolcrib: CommandLine) -> None:
    assert toolcrib("approvals", "--json").json == []
    assert toolcrib("approvals", "allow", "x").code == 3


def test_a_rule_that_is_not_in_force_is_shown_with_the_reason(toolcrib: CommandLine) -> None:
    assert toolcrib("policy", "--json").json["broken"] == []
    stored = {
        "effect": "deny", "server": "terminal", "tool": "run_command",
        "arguments": {"command": {"like": "rm *"}}, "examples": {"match": [{"command": "unlink x"}]},
    }  # fmt: skip
    with sqlite3.connect(toolcrib.home / "data" / "toolcrib.db") as connection:
        connection.execute(
            "INSERT INTO approval_rules (id, rule, made_at) VALUES ('odd', ?, 0)", (json.dumps(stored),)
        )
    connection.close()

    told = toolcrib("policy")
    assert "The rule odd is invalid" in told.err
    assert "does not match its own example" in told.err
    assert toolcrib("policy", "--json").json["broken"][0]["id"] == "odd"
    assert toolcrib("policy", "remove", "odd", "--yes").code == 0
    assert toolcrib("policy", "--json").json["broken"] == []


def test_a_rule_is_put_out_of_force_and_into_it_again(toolcrib: CommandLine) -> None:
    rule = toolcrib("policy", "add", "deny", "demo/add", "--json").json["id"]
    assert toolcrib("call", "demo__add", "a=1", "b=2").code == 4

    assert toolcrib("policy", "off", rule, "--json").json == {"id": rule, "enabled": False}
    assert toolcrib("call", "demo__add", "a=1", "b=2").code == 0
    assert toolcrib("policy", "on", rule).code == 0
    assert toolcrib("call", "demo__add", "a=1", "b=2").code == 4
    assert toolcrib("policy", "--json").json["rules"][0]["used"] == 2
    assert toolcrib("policy", "off", "unknown").code == 3


def test_a_rule_for_a_folder_means_what_lies_in_it(
    toolcrib: CommandLine, up: Process, tmp_path: Path
) -> None:
    notes = tmp_path.resolve() / "notes"
    notes.mkdir()
    (tmp_path / "way").symlink_to(notes)

    added = toolcrib("policy", "add", "allow", "filesystem/write_file", "--in", f"path={tmp_path}/way").out

    assert added.endswith(f"allow filesystem/write_file path in {notes}/**\n")
    for path, decision in {
        f"{notes}/a.txt": "allow",
        f"{notes}s/a.txt": "ask",
        f"{notes}/../a": "ask",
    }.items():
        write = {"path": path, "content": "y"}
        assert explained(toolcrib, "filesystem__write_file", write)["decision"] == decision, path

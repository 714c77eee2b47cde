"""`toolcrib workflow plan` and `from-chat`: the workflow goes to stdout, and is saved only if asked to."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine


def test_a_plan_is_printed_as_a_file_and_saved_with_save(toolcrib: CommandLine) -> None:
    done = toolcrib("workflow", "plan", "What", "is", "17 plus 25", "--model", "demo", "--save")

    assert done.code == 0
    assert json.loads(done.out)["nodes"]["add_1"]["settings"]["tool"] == "demo__add"
    assert "Added: add_1" in done.err
    assert "demo is saved" in done.err
    assert [one["name"] for one in toolcrib("workflow", "list", "--json").json] == ["demo"]


def test_a_refused_plan_says_why(toolcrib: CommandLine) -> None:
    done = toolcrib("workflow", "plan", "Send a fax", "--model", "demo", "--json")

    assert done.code == 6
    assert done.error["kind"] == "plan_refused"


def test_a_chat_becomes_a_workflow(toolcrib: CommandLine) -> None:
    toolcrib("ask", "What is 17 plus 25?", "--model", "demo")

    found = toolcrib("workflow", "from-chat", "last", "--name", "sum", "--json").json

    assert found["workflow"]["name"] == "sum"
    assert {name: one["default"] for name, one in found["workflow"]["inputs"].items()} == {"a": 17, "b": 25}

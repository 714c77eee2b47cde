"""`toolcrib tools search`, with and without a running host."""

from __future__ import annotations

import json

from tests.cli.command_line import CommandLine, Process
from tests.cli.test_completion import complete
from tests.cli.test_json_promise import examples, shape


def test_the_tool_that_fits_best_comes_first(toolcrib: CommandLine) -> None:
    answer = toolcrib("tools", "search", "add two numbers")

    assert answer.out.splitlines()[0].split() == ["NAME", "SCORE", "DESCRIPTION"]
    assert answer.out.splitlines()[1].startswith("demo__add")


def test_the_json_is_as_documented(toolcrib: CommandLine) -> None:
    (example,) = examples("tools search")

    explained = toolcrib("tools", "search", "add two numbers", "--json", "--explain").json
    plain = toolcrib("tools", "search", "add two numbers", "--json").json

    assert shape(explained) == shape(example)
    assert shape(explained["tools"]) == shape(example["tools"])
    assert shape(explained["tools"][0]["reasons"]) == shape(example["tools"][0]["reasons"])
    assert shape(plain["tools"])[0] == [key for key in example["tools"][0] if key != "reasons"]


def test_the_reasons_name_parts_and_words(toolcrib: CommandLine) -> None:
    answer = toolcrib("tools", "search", "--explain", "-k", "1", "divide")

    assert "demo__divide" in answer.out
    assert "name: divide" in answer.out


def test_words_need_no_quotes_and_so_many_are_returned(toolcrib: CommandLine) -> None:
    found = toolcrib("tools", "search", "a", "file", "-k", "2", "--json").json

    assert found["query"] == "a file"
    assert len(found["tools"]) == 2


def test_a_question_that_nothing_fits_is_no_error(toolcrib: CommandLine) -> None:
    toolcrib("servers")
    words_alone = {"retrieval": {"embedder": {"kind": "none"}}}
    (toolcrib.home / "mcp.json").write_text(json.dumps({**toolcrib.config(), "toolcrib": words_alone}))

    answer = toolcrib("tools", "search", "zzzz")

    assert (answer.code, answer.out) == (0, "")
    assert "other words" in answer.err


def test_no_question_is_wrong_use(toolcrib: CommandLine) -> None:
    answer = toolcrib("tools", "search", "--json")

    assert (answer.code, answer.error["kind"]) == (2, "usage")


def test_a_server_called_search_can_still_be_listed(toolcrib: CommandLine) -> None:
    toolcrib.add("search")

    tools = toolcrib("tools", "--json", "--", "search").json
    first = toolcrib("tools", "--", "search", "--json")

    assert {tool["server"] for tool in tools} == {"search"}
    assert first.code == 2


def test_a_running_host_answers_and_sees_new_servers(toolcrib: CommandLine, up: Process) -> None:
    before = toolcrib("tools", "search", "echo", "--json").json
    toolcrib.add("small", options=("--test",))

    after = toolcrib("tools", "search", "echo", "--json", "--wait", "20").json

    assert "small__echo" not in [tool["name"] for tool in before["tools"]]
    assert after["tools"][0]["name"] == "small__echo"


def test_the_form_and_its_options_are_completed(toolcrib: CommandLine) -> None:
    toolcrib("tools")

    assert complete(toolcrib, "tools", "se") == ["search"]
    assert complete(toolcrib, "tools", "de") == ["demo"]
    assert "--explain" in complete(toolcrib, "tools", "search", "--")
    assert "--explain" not in complete(toolcrib, "tools", "--")


def test_the_help_tells_of_the_form(toolcrib: CommandLine) -> None:
    assert "toolcrib tools search" in toolcrib("tools", "--help").out
    assert toolcrib("tools", "search", "--help").out.startswith("Usage: toolcrib tools search ")

"""Calls of chats become workflows: what came from results refers to them, what the user named is an input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.features.workflows.planner.evaluation.runner import bundled_tools
from toolcrib.chats.replay import StoredEntry, replay
from toolcrib.chats.turn import Turn
from toolcrib.errors import UnknownTool, UsageError
from toolcrib.features.workflows.from_chat import FromChat, calls_of, without_repeats, workflow_of
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.schema.tools import Tool

TOOLS = {tool.name: tool for tool in bundled_tools()}
READ, WRITE, LIST = "filesystem__read_file", "filesystem__write_file", "filesystem__list_directory"
SEARCH, MAIL, RUN = "websearch__search_web_pages", "mail__send_email", "terminal__run_command"


def find_tool(name: str) -> Tool:
    if name not in TOOLS:
        raise UnknownTool(f"There is no tool {name!r}.")
    return TOOLS[name]


def turns(
    question: str, *made: tuple[str, dict[str, Any], str] | tuple[str, dict[str, Any], str, str]
) -> list[Turn]:
    """A stored chat: a question, and calls with their results and outcomes."""
    bodies: list[dict[str, Any]] = [{"from": "person", "parts": [{"type": "text", "text": question}]}]
    for number, (tool, arguments, text, *outcome) in enumerate(made):
        part = {"type": "call", "id": f"c{number}", "name": tool, "arguments": arguments}
        bodies.append({"from": "model", "parts": [part]})
        shown = {"type": "text", "text": f'<tool_result tool="{tool}">\n{text}\n</tool_result>'}
        answer = {"id": f"c{number}", "name": tool, "outcome": (outcome or ["ok"])[0], "parts": [shown]}
        bodies.append({"from": "tools", "answers": [answer]})
    entries = [StoredEntry(position=at, time=None, kind="said", body=body) for at, body in enumerate(bodies)]
    return replay(entries)


def made(*chats: list[Turn]) -> FromChat:
    calls = [without_repeats(calls_of(one, ignored={"search_tools"})[0], find_tool)[0] for one in chats]
    found = workflow_of(calls, name="My chat", find_tool=find_tool)
    assert [problem for problem in validate(found.workflow, find_tool=find_tool) if not problem.warning] == []
    return found


def arguments(found: FromChat, node: str) -> dict[str, Any]:
    given: dict[str, Any] = found.workflow.nodes[node].settings["arguments"]
    return given


def test_a_result_that_reappears_becomes_a_reference() -> None:
    found = made(
        turns(
            "Copy the notes",
            (READ, {"path": "in.txt"}, "The whole text of the notes."),
            (WRITE, {"path": "out.txt", "content": "The whole text of the notes."}, "written"),
        )
    )

    assert found.workflow.name == "my-chat"
    assert arguments(found, "write_file")["content"] == "{{read_file.text}}"
    assert [(edge.source, edge.target) for edge in found.workflow.edges] == [("read_file", "write_file")]
    assert found.workflow.outputs == {"result": "{{write_file.text}}"}


def test_a_value_of_structured_data_is_found_at_its_most_specific_place() -> None:
    result = json.dumps({"entries": [{"name": "aa"}, {"name": "report-2027.csv", "kind": "file"}]})
    found = made(
        turns("Read the report", (LIST, {"path": "."}, result), (READ, {"path": "report-2027.csv"}, "x"))
    )

    assert arguments(found, "read_file") == {"path": "{{list_directory.data.entries[1].name}}"}
    assert any("item 2" in doubt.message for doubt in found.doubts)


@pytest.mark.parametrize("value", [7, 200, "csv", "true", "text"])
def test_a_trivial_value_never_becomes_a_reference(value: Any) -> None:
    listed = (LIST, {"path": "."}, json.dumps({"entries": [], "value": value}))
    argument = {"timeout": value} if isinstance(value, int) else {"cwd": value}
    found = made(turns("Go", listed, (RUN, {"command": "sleep", **argument}, "x")))

    assert arguments(found, "run_command") == {"command": "sleep", **argument}


def test_what_the_user_named_becomes_an_input_with_a_default() -> None:
    found = made(
        turns(
            "Search for heat pumps and send 3 results to ann@example.org.",
            (SEARCH, {"query": "heat pumps", "max_results": 3}, "Pumps."),
            (MAIL, {"to": "ann@example.org", "subject": "Heat", "body": "See: Pumps."}, "sent"),
        )
    )

    inputs = found.workflow.inputs
    assert {name: (one.type, one.default) for name, one in inputs.items()} == {
        "query": ("string", "heat pumps"),
        "max_results": ("integer", 3),
        "to": ("string", "ann@example.org"),
    }
    assert arguments(found, "search_web_pages") == {
        "query": "{{input.query}}",
        "max_results": "{{input.max_results}}",
    }


def test_a_result_inside_of_a_longer_text_is_inserted() -> None:
    found = made(
        turns(
            "Mail me the uptime",
            (RUN, {"command": "uptime -p"}, "up 3 days, 4 hours\n"),
            (
                MAIL,
                {"to": "a@example.org", "subject": "Up", "body": "It is {{fine}}: up 3 days, 4 hours."},
                "ok",
            ),
        )
    )

    assert arguments(found, "send_email")["body"] == r"It is \{{fine}}: {{run_command.text}}."


def test_failed_and_repeated_calls_and_those_of_the_chat_itself_are_left_out() -> None:
    chat = turns(
        "Read it",
        ("search_tools", {"query": "files"}, "found"),
        (READ, {"path": "wrong.txt"}, "no such file", "tool_error"),
        (READ, {"path": "right.txt"}, "text"),
        (READ, {"path": "right.txt"}, "text"),
        (WRITE, {"path": "right.txt", "content": "x"}, "written"),
        (READ, {"path": "right.txt"}, "x"),
    )
    calls, doubts = calls_of(chat, ignored={"search_tools"})
    kept, repeats = without_repeats(calls, find_tool)

    assert [(call.tool, call.text) for call in kept] == [(READ, "text"), (WRITE, "written"), (READ, "x")]
    assert "did not succeed" in doubts[0].message
    assert "repeated" in repeats[0].message


def test_a_call_that_changes_something_is_kept_twice() -> None:
    press = "desktop__press_key"
    chat = turns("Go on", (press, {"key": "Tab"}, "1"), (press, {"key": "Tab"}, "2"))

    kept, _ = without_repeats(calls_of(chat)[0], find_tool)

    assert len(kept) == 2


def test_values_that_differ_between_chats_become_inputs() -> None:
    def chat(name: str, text: str) -> list[Turn]:
        return turns(
            "Copy it as usual",
            (READ, {"path": f"{name}-in.txt"}, text),
            (WRITE, {"path": "copy.txt", "content": text}, "written"),
        )

    found = made(chat("monday", "Text of monday"), chat("tuesday", "Text of tuesday"))

    assert {name: one.default for name, one in found.workflow.inputs.items()} == {"path": "tuesday-in.txt"}
    assert arguments(found, "write_file") == {"path": "copy.txt", "content": "{{read_file.text}}"}


def test_a_reference_that_only_one_chat_shows_is_not_used() -> None:
    def chat(content: str) -> list[Turn]:
        return turns(
            "Go", (READ, {"path": "a.txt"}, "Hello there"), (WRITE, {"path": "b", "content": content}, "ok")
        )

    found = made(chat("Something else"), chat("Hello there"))

    assert arguments(found, "write_file")["content"] == "{{input.content}}"


def test_chats_that_did_different_things_are_refused() -> None:
    one = turns("Go", (READ, {"path": "a.txt"}, "x"), (RUN, {"command": "ls"}, "x"))
    other = turns("Go", (READ, {"path": "a.txt"}, "x"))

    with pytest.raises(UsageError, match="call 2 is terminal__run_command"):
        made(one, other)


def test_a_chat_without_calls_is_refused() -> None:
    with pytest.raises(UsageError, match="no successful tool calls"):
        made(turns("Hello"))


def test_a_secret_is_not_stored() -> None:
    calls, _ = calls_of(turns("Log in", ("api__login", {"password": "hunter22"}, "welcome")))
    found = workflow_of([calls], name="login", find_tool=find_tool)

    assert found.workflow.inputs["password"].secret
    assert "hunter22" not in found.workflow.model_dump_json()
    assert "hunter22" not in str(found.doubts)
    assert any("api__login" in doubt.message for doubt in found.doubts)


def test_desktop_calls_become_desktop_nodes() -> None:
    found = made(turns("Save it", ("desktop__press_key", {"key": "s", "modifiers": ["ctrl"]}, "done")))

    assert [node.type for node in found.workflow.nodes.values()] == ["PressKey"]


def test_a_path_that_the_results_type_does_not_have_stays_a_value() -> None:
    """The text is JSON in another form than the structured result that a run gets."""
    result = json.dumps([{"title": "A long title of a page"}])
    found = made(
        turns(
            "Go",
            (SEARCH, {"query": "x"}, result),
            (WRITE, {"path": "a", "content": "A long title of a page"}, "ok"),
        )
    )

    assert arguments(found, "write_file")["content"] == "A long title of a page"

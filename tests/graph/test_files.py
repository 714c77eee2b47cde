"""The file of a workflow: readable in a diff, read without surprises, and broken ones are explained."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcrib.graph.files import read_workflow, workflow_from, write_workflow
from toolcrib.graph.problems import InvalidWorkflow

FILE = """\
{
  "format": 1,
  "name": "greet",
  "description": "Says hello — in any language.",
  "inputs": {
    "who": {
      "description": "Whom to greet."
    }
  },
  "nodes": {
    "hello": {
      "type": "Set",
      "settings": {
        "values": {
          "text": "Hello {{input.who}}"
        }
      },
      "position": [
        10.0,
        20.0
      ]
    },
    "wait": {
      "type": "Wait",
      "settings": {
        "seconds": 1
      },
      "retry": {
        "attempts": 5
      }
    }
  },
  "edges": [
    {
      "from": "hello",
      "to": "wait"
    },
    {
      "from": "hello",
      "to": "wait",
      "output": "error"
    }
  ]
}
"""


def test_a_file_is_written_as_it_was_read() -> None:
    assert write_workflow(read_workflow(FILE)) == FILE
    assert read_workflow(FILE.encode()) == read_workflow(FILE)


def test_reading_what_was_written_changes_nothing() -> None:
    workflow = read_workflow(FILE)

    assert read_workflow(write_workflow(workflow)) == workflow


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('{"name": NaN}', "not valid JSON"),
        ('{"name": "x", "name": "y"}', "'name' occurs twice"),
        ('{"name": "x", "nodes": {"a": {"type": "Set"}, "a": {"type": "Set"}}}', "'a' occurs twice"),
        ('{"name": "\\ud800"}', "not valid Unicode"),
        ("[" * 100_000, "nested more than"),
        ('{"name": "x", "outputs": {"a": ' + "[" * 70 + "]" * 70 + "}}", "nested more than"),
        ("9" * 5000, "not valid JSON"),
        ("{}", "name is required"),
        ('{"name": "X Y"}', "name: String should match"),
        ('{"name": "x", "format": 2}', "format: Input should be 1"),
        ('{"name": "x", "nods": {}}', "nods is not known"),
        ('{"name": "x", "inputs": {"A b": {}}}', "The name 'A b' in inputs must start with a letter"),
    ],
)
def test_a_broken_file_is_explained(text: str, message: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        read_workflow(text)

    assert message in caught.value.message


def test_a_file_that_is_too_large_is_not_read() -> None:
    with pytest.raises(InvalidWorkflow, match="larger than 16 MB"):
        read_workflow(b" " * 16_000_001)


def test_all_problems_of_the_form_are_named_with_their_nodes() -> None:
    nodes: dict[str, Any] = {"a": {"type": "Set", "timeout": -1, "retries": 2}, "b": {}, "C": {"type": "Set"}}

    with pytest.raises(InvalidWorkflow) as caught:
        workflow_from({"name": "x", "nodes": nodes, "edges": [{"from": "a"}]})

    assert [(each.node, each.message) for each in caught.value.problems] == [
        ("a", "timeout: Input should be greater than 0."),
        ("a", "retries is not known."),
        ("b", "type is required."),
        ("C", "The id must start with a letter and have only a-z, 0-9 and _, at most 64."),
        (None, "edges[0].to is required."),
    ]
    assert caught.value.as_json()["problems"][1] == {
        "node": "a",
        "message": "retries is not known.",
        "hint": "Did you mean retry?",
        "warning": False,
    }


@pytest.mark.parametrize(("kind", "setting"), [("Loop", "loop"), ("Map", "map")])
def test_a_back_edge_to_the_own_loop_is_dropped_and_no_other(kind: str, setting: str) -> None:
    nodes = {
        "again": {"type": kind},
        "end": {"type": f"End{kind}", "settings": {setting: "again"}},
        "x": {"type": "Set"},
    }
    edges = [{"from": "end", "to": "again"}, {"from": "end", "to": "x"}, {"from": "x", "to": "again"}]

    workflow = workflow_from({"name": "x", "nodes": nodes, "edges": edges})

    assert [(edge.source, edge.target) for edge in workflow.edges] == [("end", "x"), ("x", "again")]


def test_values_are_kept_exactly() -> None:
    values = {
        "big": 12345678901234567890,
        "small": 0.1,
        "text": "ä\n\u2028😀",
        "null": None,
        "empty": {},
        "list": [],
    }
    data = {"name": "x", "nodes": {"a": {"type": "Set", "settings": {"values": values}}}}

    written = write_workflow(workflow_from(data))

    assert json.loads(written)["nodes"]["a"]["settings"]["values"] == values


@pytest.mark.parametrize(
    ("part", "entry", "most"),
    [
        ("nodes", {"type": "Set", "settings": {"values": {}}}, 2_000),
        ("inputs", {"type": "string"}, 1_000),
        ("outputs", 1, 1_000),
    ],
)
def test_a_file_with_too_many_entries_is_refused(part: str, entry: Any, most: int) -> None:
    def text(count: int) -> str:
        return json.dumps({"name": "big", part: {f"n{number}": entry for number in range(count)}})

    assert len(getattr(read_workflow(text(most)), part)) == most
    with pytest.raises(InvalidWorkflow, match=f"{most + 1:,} {part}; at most {most:,}"):
        read_workflow(text(most + 1))


def test_a_file_with_too_many_edges_is_refused() -> None:
    edges = [{"from": "a", "to": "b"}] * 10_001

    with pytest.raises(InvalidWorkflow, match="10,001 edges; at most 10,000"):
        read_workflow(json.dumps({"name": "big", "nodes": {}, "edges": edges}))

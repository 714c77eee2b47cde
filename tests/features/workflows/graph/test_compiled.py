"""A valid workflow becomes a graph that can be walked."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.graph.compiled import CompiledGraph
from toolcrib.graph.files import workflow_from
from toolcrib.graph.problems import InvalidSettings, InvalidWorkflow

CALL = {"tool": "demo__add", "arguments": {"a": "{{start.n}}"}}
UNTIL_THREE = {"left": "{{add.data.sum}}", "operator": "greater_or_equal", "right": 3}


def looping() -> dict[str, Any]:
    return {
        "name": "counting",
        "nodes": {
            "start": {"type": "Set", "settings": {"values": {"n": 1}}},
            "again": {"type": "Loop", "settings": {"exit_condition": UNTIL_THREE}},
            "add": {
                "type": "McpToolCall",
                "settings": {"tool": "demo__add", "arguments": {"a": "{{start.n}}"}},
            },
            "repeat": {"type": "EndLoop", "settings": {"loop": "again"}},
            "report": {"type": "Set", "settings": {"values": {"text": "{{add.data.sum}} in all"}}},
        },
        "edges": [
            {"from": "start", "to": "again"},
            {"from": "again", "to": "add", "output": "body"},
            {"from": "add", "to": "repeat"},
            {"from": "again", "to": "report", "output": "done"},
        ],
        "outputs": {"text": "{{report.text}}"},
    }


def compiled(data: dict[str, Any]) -> CompiledGraph:
    return compile_workflow(workflow_from(data))


def test_a_graph_says_where_it_starts_and_what_follows() -> None:
    graph = compiled(looping())

    assert graph.entry == "start"
    assert graph.target("start", "next") == "again"
    assert graph.target("again", "done") == "report"
    assert graph.target("report", "next") is None


def test_the_body_of_a_loop_is_everything_up_to_its_end() -> None:
    graph = compiled(looping())

    assert graph.bodies["again"] == {"add", "repeat"}
    assert (graph.first("again"), graph.nodes["repeat"].closes) == ("add", "again")
    assert graph.nodes["add"].owner == "again"
    assert graph.nodes["repeat"].closes == "again"
    assert graph.nodes["report"].owner is None


def test_the_settings_of_a_visit_have_the_values_that_references_lead_to() -> None:
    graph = compiled(looping())

    settings = graph.settings("add", {"start": {"n": 5}})

    assert settings.arguments == {"a": 5}
    assert graph.outputs({"report": {"text": "3 in all"}}) == {"text": "3 in all"}


def test_a_value_that_does_not_fit_a_setting_is_named() -> None:
    data = looping()
    data["inputs"] = {"values": {"type": "object"}}
    data["nodes"]["add"]["settings"] = {"tool": "demo__add", "arguments": "{{input.values}}"}
    graph = compiled(data)

    with pytest.raises(InvalidSettings, match="add: arguments: "):
        graph.settings("add", {"input": {"values": "no object"}})


def test_a_back_edge_from_an_end_to_its_loop_is_dropped() -> None:
    data = looping()
    data["edges"].append({"from": "repeat", "to": "again"})

    assert compiled(data) == compiled(looping())


def test_a_workflow_with_problems_does_not_compile() -> None:
    data = looping()
    data["nodes"]["add"]["type"] = "McpToolCal"

    with pytest.raises(InvalidWorkflow) as caught:
        compiled(data)

    assert caught.value.problems[0].node == "add"
    assert "McpToolCall" in caught.value.problems[0].hint

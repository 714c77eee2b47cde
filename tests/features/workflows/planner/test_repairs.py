"""Mistakes with one obvious correction are corrected and reported; all others are left to the model."""

from __future__ import annotations

from typing import Any

import pytest

from tests.features.workflows.planner.evaluation.graphs import call, edge, node, when
from tests.features.workflows.planner.evaluation.runner import bundled_tools
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.planner.building import build
from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import WorkflowDoubt
from toolcrib.features.workflows.planner.reading import read_workflow
from toolcrib.schema.workflows import Workflow, WorkflowProblem

READ = call("read", "filesystem__read_file", path="a.txt")
SAVE = call("save", "filesystem__write_file", path="b.txt", content="{{read.text}}")
LIST = call("list", "filesystem__list_directory", path=".")


@pytest.fixture(scope="module")
def catalog() -> PlannerCatalog:
    return PlannerCatalog(types=node_types(), tools={tool.name: tool for tool in bundled_tools()})


def built(
    catalog: PlannerCatalog, nodes: list[Any], edges: list[Any], **rest: Any
) -> tuple[Workflow | None, list[WorkflowProblem], list[WorkflowDoubt]]:
    draft = read_workflow({"name": "test", "nodes": nodes, "edges": edges, **rest})
    workflow, problems = build(draft, catalog, "test")
    return workflow, problems, draft.doubts


def edges_of(workflow: Workflow | None) -> list[tuple[str, str, str]]:
    assert workflow is not None
    return [(one.source, one.output, one.target) for one in workflow.edges]


def test_the_only_missing_edge_of_a_chain_is_added(catalog: PlannerCatalog) -> None:
    workflow, _, doubts = built(catalog, [READ, SAVE, LIST], [edge("read", "save")])

    assert edges_of(workflow) == [("read", "next", "save"), ("save", "next", "list")]
    assert [doubt.message for doubt in doubts] == ["The edge from save to list was missing."]


def test_a_missing_edge_with_two_possible_places_goes_back(catalog: PlannerCatalog) -> None:
    check = node("check", "If", condition=when("{{read.text}}", "is_empty"))
    workflow, problems, _ = built(
        catalog, [READ, check, SAVE, LIST], [edge("read", "check"), edge("check", "save", "true")]
    )

    assert workflow is None
    assert [problem.node for problem in problems] == ["list"]


def test_an_unknown_tool_with_one_close_match_is_not_replaced(catalog: PlannerCatalog) -> None:
    workflow, problems, _ = built(catalog, [call("read", "filesystem__read_fil", path="a")], [])

    assert workflow is None
    assert "filesystem__read_fil'" in problems[0].message
    assert "filesystem__read_file" in problems[0].hint


def test_a_tool_that_was_not_offered_is_not_used() -> None:
    tools = {tool.name: tool for tool in bundled_tools() if tool.server == "filesystem"}
    catalog = PlannerCatalog(types=node_types(), tools=tools)

    workflow, problems, _ = built(catalog, [READ, call("execute", "terminal__run_command", command="ls")], [])

    assert workflow is None
    assert [problem.node for problem in problems] == ["execute"]


def test_a_tool_written_as_a_node_type_becomes_a_call(catalog: PlannerCatalog) -> None:
    wrong = {"id": "read", "type": "filesystem__read_file", "settings": {"path": "a.txt"}}
    workflow, _, doubts = built(catalog, [wrong], [])

    assert workflow is not None
    assert workflow.nodes["read"].settings == {
        "tool": "filesystem__read_file",
        "arguments": {"path": "a.txt"},
    }
    assert [doubt.node for doubt in doubts] == ["read"]


def test_ids_are_corrected_everywhere(catalog: PlannerCatalog) -> None:
    first = {**READ, "id": "Read It!"}
    second = call("2", "filesystem__write_file", path="{{input.My Path}}", content="{{Read It!.text}} end")
    workflow, _, doubts = built(
        catalog,
        [first, second],
        [edge("Read It!", "2")],
        inputs={"My Path": {"type": "str"}},
        outputs={"Result": "{{2.text}}"},
    )

    assert workflow is not None
    assert list(workflow.nodes) == ["read_it", "n_2"]
    assert workflow.nodes["n_2"].settings["arguments"] == {
        "path": "{{input.my_path}}",
        "content": "{{read_it.text}} end",
    }
    assert workflow.outputs == {"result": "{{n_2.text}}"}
    assert len(doubts) == 3


def test_an_edge_back_to_a_loop_leads_to_a_new_end(catalog: PlannerCatalog) -> None:
    loop = node("until", "Loop", exit_condition=when("{{read.text}}", "contains", "done"))
    edges = [edge("until", "read", "body"), edge("read", "until"), edge("until", "list", "done")]
    workflow, _, _ = built(catalog, [loop, READ, LIST], edges)

    assert workflow is not None
    assert workflow.nodes["end_until"].settings == {"loop": "until"}
    assert ("read", "next", "end_until") in edges_of(workflow)


def test_a_cycle_without_a_loop_goes_back(catalog: PlannerCatalog) -> None:
    workflow, problems, _ = built(catalog, [READ, SAVE], [edge("read", "save"), edge("save", "read")])

    assert workflow is None
    assert any("Loop" in problem.hint or "first" in problem.message for problem in problems)


def test_what_follows_the_end_of_a_loop_follows_the_loop(catalog: PlannerCatalog) -> None:
    loop = node("until", "Loop", exit_condition=when("{{read.text}}", "contains", "done"))
    end = node("end", "EndLoop", loop="until")
    edges = [edge("until", "read"), edge("read", "end"), edge("end", "until"), edge("end", "list")]
    workflow, _, _ = built(catalog, [loop, READ, end, LIST], edges)

    assert sorted(edges_of(workflow)) == [
        ("read", "next", "end"),
        ("until", "body", "read"),
        ("until", "done", "list"),
    ]


def test_two_unnamed_edges_of_a_condition_go_back(catalog: PlannerCatalog) -> None:
    check = node("check", "If", condition=when("{{read.text}}", "is_empty"))
    edges = [["read", "check"], ["check", "save"], ["check", "list"]]
    workflow, problems, _ = built(catalog, [READ, check, SAVE, LIST], edges)

    assert workflow is None
    assert problems[0].node == "check"


def test_an_argument_that_the_tool_does_not_have_goes_back(catalog: PlannerCatalog) -> None:
    wrong = call("save", "filesystem__write_file", path="a", content="b", mode="{{input.mode}}")
    workflow, problems, _ = built(catalog, [wrong], [])

    assert workflow is None
    assert "'mode'" in problems[0].message
    assert "content" in problems[0].hint


def test_one_unreadable_part_does_not_hide_the_problems_of_others(catalog: PlannerCatalog) -> None:
    nodes = ["read", {"id": "x"}, {"id": "y", "type": "SmartAction", "settings": []}, READ]
    workflow, problems, _ = built(catalog, nodes, [7])

    assert workflow is None
    assert len(problems) >= 4

"""A patch changes what it names and nothing else, or says why it does not apply."""

from __future__ import annotations

import pytest

from tests.features.workflows.planner.evaluation.graphs import Json, call, edge, node, straight
from tests.features.workflows.planner.evaluation.runner import as_workflow, bundled_tools
from toolcrib.features.workflows.graph.node_types import node_types
from toolcrib.features.workflows.planner.building import build
from toolcrib.features.workflows.planner.catalog import PlannerCatalog
from toolcrib.features.workflows.planner.draft import WorkflowChanges, differences
from toolcrib.features.workflows.planner.reading import patched
from toolcrib.schema.workflows import Workflow

READ = {**call("read", "filesystem__read_file", path="a.txt"), "position": [10, 20], "retry": {"attempts": 5}}
SAVE = call("save", "filesystem__write_file", path="b.txt", content="{{read.text}}")
LIST = call("list", "filesystem__list_directory", path=".")
WAIT = node("wait", "Wait", seconds=5)


@pytest.fixture
def current() -> Workflow:
    graph = straight("copy", READ, SAVE, LIST, outputs={"text": "{{read.text}}"})
    return as_workflow({**graph, "inputs": [{"name": "folder", "type": "string"}]})


def applied(current: Workflow, patch: Json) -> tuple[Workflow | None, list[str], list[str]]:
    catalog = PlannerCatalog(types=node_types(), tools={tool.name: tool for tool in bundled_tools()})
    draft = patched(current, patch)
    workflow, problems = build(draft, catalog, "", current)
    return workflow, [problem.message for problem in problems], [doubt.message for doubt in draft.doubts]


def changes(current: Workflow, patch: Json) -> WorkflowChanges:
    workflow, problems, _ = applied(current, patch)
    assert workflow is not None, problems
    return differences(current, workflow)


def test_a_changed_argument_leaves_everything_else_as_it_is(current: Workflow) -> None:
    patch = {"update_nodes": [{"id": "save", "settings": {"arguments": {"path": "c.txt"}}}]}
    workflow, _, doubts = applied(current, patch)

    assert workflow is not None
    assert workflow.nodes["save"].settings["arguments"] == {"path": "c.txt", "content": "{{read.text}}"}
    assert workflow.nodes["read"] == current.nodes["read"]
    assert differences(current, workflow).changed[0].fields == ("settings.arguments",)
    assert doubts == []


def test_a_node_is_inserted_even_if_the_old_edge_was_not_removed(current: Workflow) -> None:
    found = changes(current, {"add_nodes": [WAIT], "add_edges": [edge("read", "wait"), edge("wait", "save")]})

    assert found.added == ("wait",)
    assert [(one.source, one.target) for one in found.edges_added] == [("read", "wait"), ("wait", "save")]
    assert [(one.source, one.target) for one in found.edges_removed] == [("read", "save")]


def test_a_removed_node_of_a_chain_is_bridged(current: Workflow) -> None:
    workflow, _, doubts = applied(current, {"remove_nodes": ["save"]})

    assert workflow is not None
    assert [(one.source, one.target) for one in workflow.edges] == [("read", "list")]
    assert doubts == ["The edge from read to list was missing."]


def test_inputs_and_outputs_are_changed_by_name(current: Workflow) -> None:
    patch = {
        "inputs": [{"name": "path", "type": "string", "default": "a.txt"}],
        "remove_inputs": ["folder"],
        "outputs": {"files": "{{list.text}}"},
        "remove_outputs": ["text"],
        "update_nodes": {"read": {"settings": {"arguments": {"path": "{{input.path}}"}}}},
    }
    found = changes(current, patch)

    assert (found.inputs, found.outputs) == (("folder", "path"), ("text", "files"))
    assert (found.added, found.removed) == ((), ())


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ({"remove_nodes": ["rad"]}, "no node 'rad'"),
        ({"update_nodes": [{"id": "sav", "settings": {}}]}, "no node 'sav'"),
        ({"remove_edges": [edge("read", "list")]}, "no edge read"),
        ({"add_nodes": [READ]}, "Two nodes have this id"),
        ({"add_nodes": [WAIT], "add_edges": [edge("list", "wiat")]}, "'wiat', which is no step"),
        ({"remove_outputs": ["other"]}, "no output 'other'"),
        ({"workflow": {"nodes": []}}, "The patch has workflow"),
        ({}, "no changes"),
    ],
)
def test_a_patch_that_does_not_apply_says_why(current: Workflow, patch: Json, reason: str) -> None:
    workflow, problems, _ = applied(current, patch)

    assert workflow is None
    assert any(reason in problem for problem in problems), problems


def test_problems_that_the_workflow_already_had_do_not_block_a_patch() -> None:
    broken = as_workflow(straight("copy", READ, call("gone", "removed__tool", x=1)))

    workflow, problems, _ = applied(broken, {"add_nodes": [WAIT], "add_edges": [edge("gone", "wait")]})

    assert problems == []
    assert workflow is not None

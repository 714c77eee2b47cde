"""No file makes the reader or the validator fail in another way than by naming problems."""

from __future__ import annotations

import cProfile
import pstats
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.features.workflows.building import registry
from tests.features.workflows.graph.random_files import GraphBuilder, any_file
from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.graph.validation import compile_workflow, validate
from toolcrib.graph.compiled import CompiledGraph
from toolcrib.graph.files import read_workflow, workflow_from, write_workflow
from toolcrib.graph.problems import InvalidWorkflow
from toolcrib.schema.workflows import Workflow

ADD = {"inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}}}


def survive(rng: random.Random, find_tool: Any) -> str:
    """How far a random file gets; anything but an error of ours fails the test."""
    data = any_file(rng)
    try:
        workflow = workflow_from(data)
    except InvalidWorkflow:
        return "unreadable"
    assert read_workflow(write_workflow(workflow)) == workflow
    for problem in validate(workflow, find_tool=find_tool):
        assert problem.message
        assert problem.node is None or problem.node in workflow.nodes
    try:
        graph = compile_workflow(workflow)
    except InvalidWorkflow:
        return "invalid"
    visit_all(graph, data)
    return "valid"


def visit_all(graph: CompiledGraph, data: dict[str, Any]) -> None:
    """Settings of a valid graph resolve against any values, or fail with an error of ours."""
    values = {"input": data, "a": {"value": [1]}, "b": {"value": {"x": None}}, "item": "text", "index": 0}
    for id_, node in graph.nodes.items():
        try:
            found = graph.settings(id_, values)
            if node.type.decide is not None:
                assert node.type.decide(found, 1).output in node.outputs
        except ToolcribError:
            continue


def fuzz(count: int, seed: int) -> set[str]:
    rng, find_tool = random.Random(seed), registry(add=ADD).resolve
    return {survive(rng, find_tool) for _ in range(count)}


def test_any_graph_is_read_and_validated_or_refused_with_problems() -> None:
    assert fuzz(1500, seed=18) == {"unreadable", "invalid", "valid"}


@pytest.mark.acceptance
def test_many_more_graphs_are_read_and_validated_or_refused() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")  # shown if it fails
    assert fuzz(10_000, seed) == {"unreadable", "invalid", "valid"}


def test_refused_settings_are_asked_for_no_tool() -> None:
    step = {"type": "AiStep", "settings": {"prompt": "x", "allowed_tools": [-1, None]}}
    workflow = workflow_from({"name": "odd", "nodes": {"ask": step}})

    problems = validate(workflow, find_tool=registry(add=ADD).resolve)

    assert [problem.node for problem in problems] == ["ask"]


@given(text=st.one_of(st.text(max_size=60), st.binary(max_size=60)))
@settings(max_examples=100, deadline=None, database=None)
def test_any_text_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidWorkflow):
        read_workflow(text)


@pytest.mark.parametrize("seed", range(5))
def test_random_valid_graphs_are_valid_and_survive_a_round_trip(seed: int) -> None:
    workflow = GraphBuilder(seed).build(60)

    assert validate(workflow) == ()
    assert read_workflow(write_workflow(workflow)) == workflow


@pytest.mark.parametrize("seed", range(5))
def test_a_graph_that_loses_an_edge_is_refused_or_still_sound(seed: int) -> None:
    workflow, rng = GraphBuilder(seed).build(40), random.Random(seed)
    lost = rng.choice(workflow.edges)
    left = workflow.model_copy(update={"edges": tuple(edge for edge in workflow.edges if edge is not lost)})

    problems = validate(left)

    assert problems or lost.output in ("false", "true")


def test_validation_takes_linear_time() -> None:
    """Four times the nodes take about four times the calls of functions, not sixteen times."""
    small, large = GraphBuilder(1).build(250), GraphBuilder(1).build(1000)
    validate(small)  # what is compiled once

    assert _calls(large) < 6 * _calls(small)


def _calls(workflow: Workflow) -> int:
    """How many functions are called to validate it."""
    profile = cProfile.Profile()
    assert profile.runcall(validate, workflow) == ()
    return int(pstats.Stats(profile).total_calls)

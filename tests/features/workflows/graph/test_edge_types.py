"""Edges are refused for the values that they bring, before they are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from toolcrib.features.workflows.graph.validation import edge_problem
from toolcrib.schema.workflows import Edge, Workflow


def drawn(nodes: dict[str, Any], *edges: tuple[str, str, str]) -> Workflow:
    """Nodes as type and settings; edges as source, output and target."""
    return Workflow.model_validate(
        {
            "name": "drawn",
            "nodes": {id_: {"type": type_, "settings": settings} for id_, (type_, settings) in nodes.items()},
            "edges": [{"from": source, "output": output, "to": target} for source, output, target in edges],
        }
    )


def why(workflow: Workflow, source: str, output: str, target: str) -> str:
    found = edge_problem(workflow, Edge.model_validate({"from": source, "output": output, "to": target}))
    return "" if found is None else f"{found.node}: {found.message}"


FIND = ("FindText", {"text": "Save"})
ELSEWHERE = ("Set", {"values": {"text": "a", "number": 1, "list": ["a"], "numbers": [1]}})


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (("Click", {"x": "{{a.text}}", "y": 1}), "b: x must be a number, but {{a.text}} is a string."),
        (("Click", {"x": "{{a.number}}", "y": 1}), ""),
        (("TypeText", {"text": "{{a.number}}"}), ""),
        (("TypeText", {"text": "{{a.list}}"}), "b: text must be a string, but {{a.list}} is a list."),
        (("Map", {"items": "{{a.text}}"}), "b: items must be a list, but {{a.text}} is a string."),
        (("Set", {"values": {"any": "{{a.text}}"}}), ""),
        (
            ("Set", {"values": {"any": "{{a.nothing}}"}}),
            "b: values.any: {{a.nothing}}: there is no 'nothing'.",
        ),
    ],
)
def test_an_edge_is_refused_for_a_value_that_does_not_fit_its_target(target: Any, reason: str) -> None:
    workflow = drawn({"a": ELSEWHERE, "b": target})

    assert why(workflow, "a", "next", "b") == reason


def test_an_edge_is_refused_for_a_value_that_does_not_fit_a_step_behind_its_target() -> None:
    nodes = {"a": ELSEWHERE, "b": FIND, "c": ("Click", {"x": "{{a.text}}", "y": 1})}

    assert why(drawn(nodes, ("b", "next", "c")), "a", "next", "b").startswith("c: x must be a number")


def test_the_item_of_a_map_is_checked_when_the_body_is_connected() -> None:
    nodes = {
        "a": ELSEWHERE,
        "texts": ("Map", {"items": "{{a.list}}"}),
        "press": ("Click", {"x": "{{item}}", "y": 1}),
        "end": ("EndMap", {"map": "texts"}),
    }
    edges = (("a", "next", "texts"), ("press", "next", "end"))
    numbers = {**nodes, "texts": ("Map", {"items": "{{a.numbers}}"})}

    assert why(drawn(nodes, *edges), "texts", "body", "press").startswith("press: x must be a number")
    assert why(drawn(numbers, *edges), "texts", "body", "press") == ""


def test_a_step_can_be_put_between_two_others_although_values_are_missing_for_a_moment() -> None:
    nodes = {"a": ELSEWHERE, "b": ("Click", {"x": "{{a.number}}", "y": 1}), "between": FIND}

    assert why(drawn(nodes, ("a", "next", "b")), "a", "next", "between") == ""


def test_a_problem_that_exists_without_the_edge_does_not_refuse_it() -> None:
    nodes = {"a": ELSEWHERE, "b": ("Click", {"x": "{{a.text}}", "y": 1}), "c": FIND}

    assert why(drawn(nodes, ("a", "next", "b")), "b", "next", "c") == ""


def test_a_wrong_graph_gives_an_answer_and_no_error() -> None:
    nodes = {"a": ("Nonsense", {}), "b": ("Click", {"x": "{{"}), "c": ("EndMap", {"map": "gone"})}

    assert why(drawn(nodes, ("a", "next", "b")), "b", "next", "a") == ""
    assert why(drawn(nodes), "gone", "next", "nowhere") == ""

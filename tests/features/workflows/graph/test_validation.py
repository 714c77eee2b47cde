"""Validation names the node and the reason, and says what to do; it finds everything at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.features.workflows.building import edges, only_problem, problems, workflow
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.graph.files import workflow_from
from toolcrib.schema.workflows import Workflow

SET = ("Set", {"values": {"n": 1, "text": "a", "list": [1], "deep": {"x": True}}})
TRUE = {"left": "{{a.n}}", "operator": "equals", "right": 1}
LOOP = ("Loop", {"exit_condition": TRUE})
END = ("EndLoop", {"loop": "loop"})
MAP = ("Map", {"items": "{{a.list}}"})
END_MAP = ("EndMap", {"map": "map", "value": "{{b.n}}"})
IF = ("If", {"condition": TRUE})


def test_a_workflow_with_every_kind_of_structure_is_valid() -> None:
    found = workflow(
        {
            "a": SET,
            "check": IF,
            "loop": LOOP,
            "map": ("Map", {"items": "{{a.list}}"}),
            "b": ("Set", {"values": {"n": "{{item}}", "i": "{{index}}", "turn": "{{loop.iteration}}"}}),
            "end_map": ("EndMap", {"map": "map", "value": "{{b.n}}"}),
            "end": END,
            "c": ("Set", {"values": {"all": "{{map.results}}", "first": "{{map.results[0]}}"}}),
            "failed": ("Set", {"values": {"why": "{{c.error.message}}"}}),
        },
        "a → check.true → loop.body → map.body → b → end_map",
        "map.done → end",
        "loop.done → c",
        "check.false → c",
        "c.error → failed",
        outputs={"result": "{{c.all}}", "run": "{{run.id}}"},
    )

    assert problems(found) == []


def test_the_condition_of_a_loop_refers_to_the_loop_itself_and_other_nodes_do_not_refer_to_themselves() -> (
    None
):
    third = {"left": "{{loop.iteration}}", "operator": "greater_or_equal", "right": 3}
    looped = {"a": SET, "loop": ("Loop", {"exit_condition": third}), "b": SET, "end": END}
    path = "a → loop.body → b → end"
    misspelt = {**looped, "loop": ("Loop", {"exit_condition": {**third, "left": "{{loop.iterations}}"}})}

    assert problems(workflow(looped, path)) == []
    assert "there is no 'iterations'" in only_problem(workflow(misspelt, path)).message
    assert (
        "does not run before b"
        in only_problem(workflow({"a": SET, "b": ("Set", {"values": {"n": "{{b.n}}"}})}, "a → b")).message
    )


def test_an_empty_workflow_needs_a_first_step() -> None:
    assert only_problem(workflow({})).message == "Add the first step."


def test_the_end_of_a_loop_with_wrong_settings_is_no_second_problem() -> None:
    nodes = {"again": ("Loop", {}), "turn": SET, "end": ("EndLoop", {"loop": "again"})}

    problem = only_problem(workflow(nodes, "again.body → turn → end"))

    assert problem.node == "again"
    assert problem.message == "exit_condition is required."


@pytest.mark.parametrize(
    ("nodes", "paths", "node", "message", "hint"),
    [
        ({"a": SET, "b": SET}, ["a → b", "b → a"], None, "No step can be the first", "Remove the edge"),
        ({"a": SET, "b": SET}, ["a → a"], "a", "leads back to the same step", "Loop"),
        ({"a": SET}, ["a → bb"], "a", "'bb', which is no step", ""),
        ({"a": SET, "other": SET}, ["a → othr"], "a", "names 'othr'", "other"),
        ({"a": SET, "b": SET}, ["a.nxt → b"], "a", "Set has no output 'nxt'", "next"),
        ({"a": SET, "b": IF, "c": SET}, ["a → b → c"], "b", "If has no output 'next'", "true, false, error"),
        (
            {"a": SET, "b": SET, "c": SET},
            ["a → b", "a → c"],
            "a",
            "two edges, to b and to c",
            "one step only",
        ),
        ({"a": SET, "b": SET, "c": SET}, ["a → b"], "c", "Nothing leads to this step", "Connect"),
        ({"a": ("Setx", {})}, [], "a", "no node type 'Setx'", "Did you mean Set?"),
        ({"a": ("Set", {"valeus": {}})}, [], "a", "valeus is not known", "Did you mean values?"),
        (
            {"a": ("If", {"condition": {"left": 1, "op": "equals"}})},
            [],
            "a",
            "condition.op is not known",
            "operator",
        ),
        (
            {"a": ("If", {"condition": {"operator": "greater"}})},
            [],
            "a",
            "condition.operator",
            "mean greater_than",
        ),
        (
            {"a": ("Switch", {"cases": [{"nam": "x"}]})},
            [],
            "a",
            "cases[0].nam is not known",
            "Did you mean name?",
        ),
        ({"a": SET, "b": ("Wait", {})}, ["a → b"], "b", "Give one of seconds, until and event", ""),
        ({"a": SET, "loop": LOOP}, ["a → loop"], "loop", "no EndLoop for this Loop", "Add one"),
        ({"a": SET, "end": END}, ["a → end"], "end", "'loop' is not a Loop", "Add a Loop"),
        (
            {"a": SET, "loop": LOOP, "end": ("EndLoop", {"loop": "lop"})},
            ["a → loop.body → end"],
            "end",
            "'lop' is not a Loop",
            "loop",
        ),
    ],
)
def test_a_wrong_graph_is_explained(
    nodes: dict[str, Any], paths: list[str], node: str | None, message: str, hint: str
) -> None:
    found = [
        each
        for each in validate(workflow_of(nodes, paths))
        if each.node == node and message in each.message and hint in each.hint
    ]

    assert len(found) == 1, validate(workflow_of(nodes, paths))


def workflow_of(nodes: dict[str, Any], paths: list[str]) -> Workflow:
    entries = {id_: {"type": kind, "settings": settings} for id_, (kind, settings) in nodes.items()}
    return workflow_from({"name": "test", "nodes": entries, "edges": edges(*paths)})


def test_a_cycle_is_shown() -> None:
    found = workflow({"a": SET, "b": SET, "c": SET, "d": SET}, "a → b → c → d", "d.error → b")

    assert only_problem(found).message == "The edges form a cycle: b → c → d → b."


def loop_with(*paths: str, **nodes: Any) -> list[tuple[str | None, str]]:
    given = {"a": SET, "loop": LOOP, "b": SET, "end": END, "out": SET, **nodes}
    return problems(workflow(given, "a → loop.body → b", "loop.done → out", *paths))


def test_an_edge_may_not_leave_a_body_except_from_an_error() -> None:
    assert loop_with("b → end", "b.error → out") == []
    assert loop_with("b → end", "b.error → end") == []
    assert loop_with("b → if_.true → out", "if_.false → end", if_=IF) == [
        ("if_", "The edge from 'true' to out leaves the body of loop, which ends at end.")
    ]


def test_an_edge_may_not_lead_into_a_body() -> None:
    found = workflow({"a": SET, "loop": LOOP, "b": SET, "end": END}, "a → loop.body → b → end", "a.error → b")

    assert problems(found) == [("a", "The edge to b leads into the body of loop.")]


def test_a_path_may_not_end_inside_a_body() -> None:
    assert loop_with("b → if_.true → end", if_=IF) == [
        ("if_", "The output 'false' has no edge, but this step is in the body of loop.")
    ]
    assert loop_with("b → c", "out → end", c=SET) != []


def test_a_body_needs_its_start_and_its_end() -> None:
    assert problems(
        workflow({"a": SET, "loop": LOOP, "b": SET, "end": END}, "a → loop.done → b", "a.error → end")
    ) == [("loop", "The output `body` has no edge.")]
    assert ("loop", "The output `body` does not lead to end.") in problems(
        workflow({"a": SET, "loop": LOOP, "b": SET, "end": END}, "a → loop.body → b", "loop.done → end")
    )


def test_a_loop_has_one_end() -> None:
    found = workflow(
        {"a": SET, "loop": LOOP, "b": IF, "end": END, "end2": END},
        "a → loop.body → b.true → end",
        "b.false → end2",
    )

    assert ("end2", "loop already ends at end.") in problems(found)


def test_an_end_has_no_outputs() -> None:
    found = workflow({"a": SET, "loop": LOOP, "b": SET, "end": END, "c": SET}, "a → loop.body → b → end → c")

    assert problems(found) == [("end", "EndLoop has no outputs, but an edge leads to c.")]


def test_an_error_may_not_leave_the_body_of_a_map() -> None:
    found = workflow(
        {"a": SET, "map": MAP, "b": SET, "end_map": END_MAP, "out": SET},
        "a → map.body → b → end_map",
        "map.done → out",
        "b.error → out",
    )

    assert problems(found) == [
        ("b", "The edge from 'error' to out leaves the body of map, which ends at end_map.")
    ]


def test_loops_may_be_nested() -> None:
    found = workflow(
        {
            "a": SET,
            "loop": LOOP,
            "inner": LOOP,
            "b": SET,
            "inner_end": ("EndLoop", {"loop": "inner"}),
            "end": END,
            "out": ("Set", {"values": {"n": "{{b.n}}"}}),
        },
        "a → loop.body → inner.body → b → inner_end",
        "inner.done → end",
        "loop.done → out",
        "b.error → out",
    )

    assert problems(found) == []


def test_all_problems_are_found_at_once() -> None:
    found = workflow(
        {
            "a": ("Sett", {}),
            "b": ("Set", {"values": {"x": "{{missing.value}}"}}),
            "c": ("Code", {"code": "return ("}),
            "item": SET,
        },
        "a → b → c",
        "b.eror → c",
        outputs={"x": "{{b.y}}"},
        inputs={"n": {"type": "integer", "default": "one"}},
    )

    assert {node for node, _ in problems(found)} == {"a", "b", "c", "item", None}
    assert len(problems(found)) == 8


def test_a_reserved_name_cannot_be_a_node() -> None:
    assert only_problem(workflow({"run": SET})).message == "'run' cannot be the id of a step."


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"type": "integer", "default": 1.5}, "declared as integer"),
        ({"type": "string", "default": 1}, "declared as string"),
        ({"choices": ["a", "b"], "default": "c"}, "not one of its choices"),
        ({"type": "number", "choices": [1, "2"]}, "declared as number"),
        ({"default": "x", "secret": True}, "is secret and has a default"),
    ],
)
def test_inputs_are_checked(inputs: dict[str, Any], message: str) -> None:
    assert message in only_problem(workflow({"a": SET}, inputs={"name": inputs})).message


def test_a_trigger_must_set_the_inputs_that_are_needed_and_no_others() -> None:
    trigger = {"type": "webhook", "input": {"nam": "{{event.body.name}}", "size": "{{a.n}}"}}
    inputs = {"name": {}, "size": {"required": False}}

    found = validate(workflow({"a": SET}, inputs=inputs, triggers=[trigger]))

    assert [each.message for each in found] == [
        "The webhook trigger sets 'nam', which is no input.",
        "The webhook trigger does not set the input name.",
        "The webhook trigger refers to {{a.n}}, but there is only the event yet.",
    ]
    assert found[0].hint == "Did you mean name?"


@pytest.mark.parametrize(
    "check",
    [
        {"type": "text_present"},
        {"type": "text_absent", "value": ""},
        {"type": "window_title", "value": 3.5, "app_name": "x"},
        {"type": "condition", "value": {"left": 1, "operator": "is"}},
        {"type": "condition", "value": True, "app_name": "x"},
    ],
)
def test_a_wrong_check_is_a_problem_of_its_node(check: dict[str, Any]) -> None:
    found = workflow_from({"name": "test", "nodes": {"a": {"type": "Set", "checks": [check]}}})
    if check.get("value") == 3.5:  # numbers are written as text
        assert problems(found) == []
        return

    assert [(node, message.startswith("A check: ")) for node, message in problems(found)] == [("a", True)]


def test_the_node_that_leads_to_most_others_is_the_first() -> None:
    found = workflow({"lost": SET, "a": SET, "b": SET}, "a → b")

    assert problems(found) == [("lost", "Nothing leads to this step, and the workflow already starts at a.")]

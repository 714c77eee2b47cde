"""Every reference is checked before the run: it leads somewhere, has a value by then, and fits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.features.workflows.building import only_problem, problems, registry, workflow
from toolcrib.errors import NotFound
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.graph.files import workflow_from
from toolcrib.schema.workflows import Workflow

SET = ("Set", {"values": {"n": 1, "text": "a", "list": [1], "objects": [{"x": True}], "deep": {"x": True}}})
FIND = ("FindText", {"search_text": "Save"})


def after_set(kind: str, settings: dict[str, Any], **more: Any) -> Workflow:
    return workflow({"a": SET, "find": FIND, "b": (kind, settings)}, **more)


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("{{aa.n}}", "refers to 'aa', which is no step", ""),
        ("{{fnd.count}}", "refers to 'fnd'", "Did you mean find?"),
        ("{{inputs.n}}", "refers to 'inputs'", "Did you mean input?"),
        ("{{a.m}}", "there is no 'm'", "Known: n, text, list"),
        ("{{find.cuont}}", "there is no 'cuont'", "Did you mean count?"),
        ("{{find.matches[0].txt}}", "there is no 'txt'", "text"),
        ("{{find.matches.text}}", "a list has no field 'text'", ""),
        ("{{find.count.x}}", "a number has no field 'x'", ""),
        ("{{a.deep.y}}", "there is no 'y'", "Known: x"),
        ("{{find.error.massage}}", "there is no 'massage'", "message"),
        ("{{run.name}}", "there is no 'name'", "id"),
        ("{{input.name}}", "there is no 'name'", ""),
        ("{{item.x}}", "is used outside of a Map", ""),
        ("{{event.body}}", "can be used in triggers only", ""),
        ("{{b.n}}", "b does not run before b", "earlier"),
        ("{{a.n", "is not a reference", "{{step.field}}"),
        ("Text with {{a.m}} inside", "there is no 'm'", ""),
    ],
)
def test_a_reference_that_leads_nowhere_is_explained(reference: str, message: str, hint: str) -> None:
    found = only_problem(after_set("Set", {"values": {"x": [reference]}}))

    assert found.node == "b"
    assert found.message.startswith("values.x[0]: ")
    assert message in found.message
    assert hint in found.hint


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("Click", {"x": "{{find.text}}", "y": 1}, "x must be a number, but {{find.text}} is a string."),
        ("Click", {"x": "{{find.x}} px", "y": 1}, "x must be a number, but {{find.x}} px is a string."),
        ("Map", {"items": "{{a.n}}"}, "items must be a list, but {{a.n}} is a number."),
        (
            "PressKey",
            {"key": "a", "modifiers": "{{a.text}}"},
            "modifiers must be a list, but {{a.text}} is a string.",
        ),
        ("PressKey", {"key": "a", "modifiers": "{{a.objects}}"}, "modifiers must be a list"),
        (
            "TypeText",
            {"text": "{{find.found}}"},
            "text must be a string, but {{find.found}} is true or false.",
        ),
        ("If", {"condition": "{{find.text}}"}, "condition must be "),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(kind: str, settings: dict[str, Any], message: str) -> None:
    found = [text for node, text in problems(after_set(kind, settings)) if "no EndMap" not in text]

    assert [text.startswith(message) for text in found] == [True]


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("Click", {"x": "{{find.x}}", "y": "{{find.matches[0].y}}"}),
        ("TypeText", {"text": "{{find.count}}"}),
        ("TypeText", {"text": "{{find.found}} {{a.deep}}"}),
        ("If", {"condition": "{{find.found}}"}),
        ("PressKey", {"key": "a", "modifiers": ["{{a.text}}"]}),
        ("Set", {"values": {"x": "{{find.error.message}}", "y": "{{a.list[0]}}", "z": "{{a}}"}}),
        ("Code", {"code": "return {{1: 2}, '{{not.a.reference'}"}),
    ],
)
def test_a_value_of_the_right_type_is_accepted(kind: str, settings: dict[str, Any]) -> None:
    assert problems(after_set(kind, settings)) == []


def test_every_reference_of_a_text_is_checked() -> None:
    found = after_set("Set", {"values": {"x": "{{a.m}}, {{a.n}} and {{fnd.count}}"}})

    assert [message for _, message in problems(found)] == [
        "values.x: {{a.m}}: there is no 'm'.",
        "values.x: {{fnd.count}} refers to 'fnd', which is no step.",
    ]


def test_the_references_of_checks_are_checked() -> None:
    found = workflow_from(
        {
            "name": "test",
            "nodes": {
                "a": {
                    "type": "Set",
                    "settings": {"values": {"n": 1}},
                    "checks": [
                        {"type": "condition", "value": {"left": "{{a.n}}"}},
                        {"type": "window_title", "value": "*", "app_name": "{{a.app}}"},
                    ],
                }
            },
            "checks": [{"type": "text_present", "value": "{{b.text}}"}],
        }
    )

    assert problems(found) == [
        ("a", "A check: {{a.app}}: there is no 'app'."),
        (None, "A check: {{b.text}} refers to 'b', which is no step."),
    ]


def test_a_node_sees_only_what_runs_before_it() -> None:
    found = workflow(
        {
            "start": SET,
            "if_": ("If", {"condition": True}),
            "left": SET,
            "right": ("Set", {"values": {"x": "{{left.n}}"}}),
            "join": ("Set", {"values": {"x": "{{left.n}}", "y": "{{later.n}}"}}),
            "later": SET,
        },
        "start → if_.true → left → join → later",
        "if_.false → right → join",
    )

    assert problems(found) == [
        ("right", "values.x: {{left.n}} never has a value here: left does not run before right."),
        ("join", "values.y: {{later.n}} never has a value here: later does not run before join."),
    ]


def test_a_loop_sees_its_own_body() -> None:
    found = workflow(
        {
            "loop": ("Loop", {"exit_condition": {"left": "{{b.n}}", "operator": "equals", "right": 3}}),
            "a": ("Set", {"values": {"before": "{{b.n}}"}}),
            "b": ("Set", {"values": {"n": "{{b.n}}"}}),
            "end": ("EndLoop", {"loop": "loop"}),
            "out": ("Set", {"values": {"n": "{{b.n}}"}}),
        },
        "loop.body → a → b → end",
        "loop.done → out",
    )

    assert problems(found) == []


def test_what_is_inside_a_map_is_not_seen_outside() -> None:
    found = workflow(
        {
            "a": SET,
            "map": ("Map", {"items": "{{a.objects}}"}),
            "b": ("Set", {"values": {"x": "{{item.x}}", "y": "{{item.y}}"}}),
            "end": ("EndMap", {"map": "map", "value": {"found": "{{b.x}}"}}),
            "out": (
                "Set",
                {"values": {"n": "{{b.x}}", "ok": "{{map.results[0].found}}", "no": "{{map.results[0].z}}"}},
            ),
        },
        "a → map.body → b → end",
        "map.done → out",
        outputs={"x": "{{b.x}}"},
    )

    assert problems(found) == [
        ("b", "values.y: {{item.y}}: there is no 'y'."),
        ("out", "values.n: {{b.x}} is inside the Map map and cannot be seen from here."),
        ("out", "values.no: {{map.results[0].z}}: there is no 'z'."),
        (None, "The output x: {{b.x}} is inside the Map map and cannot be seen from here."),
    ]


def test_the_inputs_of_the_workflow_have_types() -> None:
    inputs = {"count": {"type": "integer"}, "names": {"type": "array"}}

    assert problems(after_set("Click", {"x": "{{input.count}}", "y": 2}, inputs=inputs)) == []
    assert problems(after_set("Click", {"x": "{{input.names}}", "y": 2}, inputs=inputs)) == [
        ("b", "x must be a number, but {{input.names}} is a list.")
    ]


ADD = {
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}, "mode": {"enum": ["fast", "exact"]}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "sum": {"$ref": "#/$defs/Number"},
            "log": {"type": "array", "items": {"type": "string"}},
        },
        "$defs": {"Number": {"type": "number"}},
    },
}


def calling(arguments: Any, then: str = "{{b.data.sum}}", tool: str = "demo__add") -> list[Any]:
    found = workflow(
        {
            "a": SET,
            "b": ("McpToolCall", {"tool": tool, "arguments": arguments}),
            "c": ("Click", {"x": then, "y": 0}),
        }
    )
    return list(validate(found, find_tool=registry(add=ADD).resolve))


def test_the_arguments_of_a_tool_are_checked() -> None:
    assert calling({"a": 1, "b": "{{a.n}}"}) == []
    [missing] = calling({"a": "{{a.n}}"})
    assert (missing.node, missing.message) == ("b", 'arguments: "b" is required.')
    [wrong] = calling({"a": "{{a.n}}", "b": "two"})
    assert wrong.message == 'arguments: "b" must be a number, not a string.'
    [choice] = calling({"a": 1, "b": 2, "mode": "slow"})
    assert 'one of "fast", "exact"' in choice.message
    [misfit] = calling({"a": 1, "b": "{{a.text}}"})
    assert misfit.message == "arguments.b must be a number, but {{a.text}} is a string."
    [unknown] = calling({"a": 1, "b": 2, "moed": "{{a.text}}"})
    assert (unknown.message, unknown.hint) == ("arguments.moed: there is no 'moed'.", "Did you mean mode?")


def test_the_result_of_a_tool_has_the_type_that_it_declares() -> None:
    [misfit] = calling({"a": 1, "b": 2}, "{{b.data.log}}")
    assert misfit.message == "x must be a number, but {{b.data.log}} is a list."
    [unknown] = calling({"a": 1, "b": 2}, "{{b.data.som}}")
    assert (unknown.warning, unknown.hint) == (True, "Did you mean sum?")


def test_an_unknown_tool_is_named_with_similar_ones() -> None:
    [problem] = calling({}, "{{b.data.x}}", tool="demo__ad")

    assert problem.node == "b"
    assert problem.message == "There is no tool called demo__ad."
    assert problem.hint == "Did you mean demo__add?"


def test_a_tool_of_a_server_that_is_not_running_is_only_a_warning() -> None:
    known = registry(add=ADD)
    known.expect("later")
    found = workflow({"a": ("McpToolCall", {"tool": "later__tool"})})

    assert only_problem(found, find_tool=known.resolve).warning


def test_the_tools_of_an_ai_step_are_checked() -> None:
    found = workflow({"a": ("AiStep", {"prompt": "Add.", "allowed_tools": ["demo__add", "demo__sum"]})})

    assert (
        only_problem(found, find_tool=registry(add=ADD).resolve).message
        == "There is no tool called demo__sum."
    )


def test_the_answer_of_an_ai_step_has_the_type_that_was_asked_for() -> None:
    schema = {"type": "object", "properties": {"total": {"type": "string"}}, "additionalProperties": False}
    nodes = {
        "a": ("AiStep", {"prompt": "Add.", "answer_schema": schema}),
        "b": ("Wait", {"seconds": "{{a.data.total}}"}),
    }

    assert (
        only_problem(workflow(nodes)).message == "seconds must be a number, but {{a.data.total}} is a string."
    )


def test_a_sub_workflow_is_checked_with_its_inputs_and_outputs() -> None:
    other = workflow({"x": SET}, inputs={"to": {}, "size": {"type": "integer"}}, outputs={"sent": "{{x.n}}"})

    def find_workflow(name: str) -> Workflow:
        if name != "other":
            raise NotFound(f"There is no workflow called {name}.")
        return other

    def checked(settings: dict[str, Any], output: str = "sent") -> list[str]:
        nodes = {
            "a": ("SubWorkflow", settings),
            "b": ("Set", {"values": {"v": f"{{{{a.outputs.{output}}}}}"}}),
        }
        return [text for _, text in problems(workflow(nodes), find_workflow=find_workflow)]

    assert checked({"workflow": "other", "inputs": {"to": "me", "size": 1}}) == []
    assert checked({"workflow": "another"}) == ["There is no workflow called another."]
    assert checked({"workflow": "other", "inputs": {"to": "me"}}) == ['inputs: "size" is required.']
    assert checked({"workflow": "other", "inputs": {"to": "me", "size": 1}}, "received") == [
        "values.v: {{a.outputs.received}}: there is no 'received'."
    ]


def test_the_values_that_a_user_fills_in_have_types() -> None:
    ask = ("AskUser", {"message": "How many?", "fields": {"count": {"type": "string"}}})
    found = workflow({"a": ask, "b": ("Wait", {"seconds": "{{a.values.count}}"})})

    assert only_problem(found).message == "seconds must be a number, but {{a.values.count}} is a string."

"""Macros without a desktop: how they are read, stored, computed, and what they refuse."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from toolcrib.bundled.desktop.macros.actions import read_values
from toolcrib.bundled.desktop.macros.execution import TYPES, macro_workflow
from toolcrib.bundled.desktop.macros.expressions import evaluate
from toolcrib.bundled.desktop.macros.model import read_macro
from toolcrib.bundled.desktop.macros.store import MAX_BYTES, MacroStore
from toolcrib.bundled.desktop.macros.variables import Variables, read_parameters
from toolcrib.bundled.desktop.records import write_record
from toolcrib.graph.compiled import read
from toolcrib.serverkit.context import ToolFailure

PRESS = {"input": {"press_key": {"key": "s", "modifiers": ["control"]}}}


def macro(*actions: dict[str, Any], **fields: Any) -> Any:
    return read_macro({"display_name": "Test", "actions": list(actions or (PRESS,)), **fields})


def test_a_macro_with_every_kind_of_action_is_read_and_written_unchanged() -> None:
    condition = {
        "compound": {
            "conditions": [{"window_exists": "a"}, {"variable_equals": {"variable": "x", "value": "1"}}],
            "operator": "or",
        }
    }
    actions: list[dict[str, Any]] = [
        PRESS,
        {"wait": {"duration": 1.5, "condition": {"element_selector": "role:button", "timeout": 2.0}}},
        {"conditional": {"condition": condition, "then_actions": [PRESS], "else_actions": [PRESS]}},
        {"loop": {"actions": [PRESS], "foreach": {"item_variable": "item", "values": "a,b"}}},
        {"assign": {"variable": "x", "expression": "1 + 1"}, "description": "count"},
        {"method_call": {"method": "ClickElement", "args": {"selector": "text:OK"}}},
    ]
    parameters = [{"key": "file", "type": "path", "required": True}]
    made = macro(*actions, parameters=parameters, tags=["t"])
    assert write_record(made) == {
        "display_name": "Test", "actions": actions, "parameters": parameters, "tags": ["t"],
    }  # fmt: skip


def test_full_enum_names_are_accepted() -> None:
    full = macro(parameters=[{"key": "n", "type": "PARAMETER_TYPE_INTEGER"}])
    assert full.parameters[0].type == "integer"
    unspecified = macro(parameters=[{"key": "n", "type": "PARAMETER_TYPE_UNSPECIFIED"}])
    assert unspecified.parameters[0].type == "string"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"display_name": "x", "actions": []}, "at least one action"),
        ({"actions": [PRESS]}, "macro.display_name is required"),
        ({"display_name": "x", "actions": [{}]}, r"macro.actions\[0\]: needs exactly one of"),
        ({"display_name": "x", "actions": [{**PRESS, "wait": {}}]}, "it has 2 of them"),
        (
            {"display_name": "x", "actions": [{"wait": {"duration": "1"}}]},
            r"macro.actions\[0\].wait.duration: Input should be a valid number",
        ),
        (
            {"display_name": "x", "actions": [{"wait": {"length": 1}}]},
            r"macro.actions\[0\].wait.length is not known",
        ),
        ({"display_name": "x", "actions": [{"input": {}}]}, "exactly one kind of input"),
        ({"display_name": "x", "actions": [{"input": {"click": {}}}]}, "action 0.click.position"),
        ({"display_name": "x", "actions": [PRESS] * 1001}, "at most 1000 actions"),
        ({"display_name": "x", "actions": [{"input": {"type_text": {"text": "a" * 40_001}}}]}, "40000"),
        ({"display_name": "x", "actions": [PRESS], "tags": ["a"] * 2001}, "more than 2000 items"),
        ([], "macro: Input should be an object"),
    ],
)
def test_a_wrong_macro_is_refused_with_the_place(value: Any, problem: str) -> None:
    with pytest.raises(ToolFailure, match=problem):
        read_macro(value)


def test_a_misspelt_name_or_word_gets_a_suggestion() -> None:
    with pytest.raises(ToolFailure, match=r"macro\.displayname is not known") as unknown:
        read_macro({"displayname": "x", "actions": [PRESS]})
    with pytest.raises(ToolFailure, match=r"macro.parameters\[0\].type") as word:
        macro(parameters=[{"key": "n", "type": "integr"}])

    assert unknown.value.hint == "Did you mean display_name?"
    assert word.value.hint == "Did you mean integer?"


def test_deep_nesting_is_refused() -> None:
    action: dict[str, Any] = PRESS
    for _ in range(20):
        action = {"loop": {"count": 1, "actions": [action]}}
    with pytest.raises(ToolFailure, match="16 levels"):
        macro(action)
    for _ in range(200):
        action = {"loop": {"count": 1, "actions": [action]}}
    with pytest.raises(ToolFailure, match="too deeply"):
        macro(action)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 + 2 * 3", 7),
        ("count + 1", 4),
        ("7 / 2", 3.5),
        ("7 // 2 - -1", 4),
        ("'No ' + count", "No 3"),
        ("join(1, 2)", "12"),
        ("upper(trim(' ada '))", "ADA"),
        ("'yes' if count >= 3 and done else 'no'", "yes"),
        ("'10' > '9'", True),
        ("'b' > 'a'", True),
        ("1 < count < 3", False),
        ("'d' in name and not starts_with(name, 'x')", True),
        ("part(replace(name, 'A', 'I'), 0, 2)", "Id"),
        ("max(1, count, 2)", 3),
        ("false or length(name) == 3", True),
    ],
)
def test_an_expression_is_computed(expression: str, result: object) -> None:
    assert evaluate(expression, {"count": "3", "name": "Ada", "done": True}) == result


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('id')",
        "name.__class__",
        "().__class__",
        "[x for x in (1,)]",
        "open('/etc/passwd')",
        "2 ** 1000000",
        "'a' * 1000000",
        "lambda: 1",
        "f'{name}'",
        "(name := 1)",
        "None",
        "unknown",
        "1 / 0",
        "999999999 * 999999999 * 999",
        "(" * 300,
        "1 +",
        "",
        "x" * 501,
        "replace('a', 'a')",
    ],
)
def test_anything_else_in_an_expression_is_refused(expression: str) -> None:
    with pytest.raises(ToolFailure):
        evaluate(expression, {"name": "Ada"})


def test_values_are_substituted_once() -> None:
    variables = Variables(name="${secret}", secret="hidden", n=3, ok=True)
    assert variables.fill("${name} $${n} ${n} ${ok}") == "${secret} ${n} 3 true"
    with pytest.raises(ToolFailure, match="no variable 'nmae'"):
        variables.fill("${nmae}")


def test_parameters_are_typed_required_and_have_defaults() -> None:
    parameters = [
        {"key": "count", "type": "integer", "default_value": "2"},
        {"key": "name", "type": "string", "required": True, "description": "who"},
        {"key": "fast", "type": "boolean"},
        {"key": "target", "type": "selector"},
    ]
    made = macro(parameters=parameters)
    assert read_parameters(made, {"name": "Ada", "fast": "true"}) == {
        "count": 2, "name": "Ada", "fast": True, "target": "",
    }  # fmt: skip
    wrong = [
        ({}, "'name' \\(who\\) is missing"),
        ({"name": "x", "count": "two"}, "whole number"),
        ({"name": "x", "fast": "maybe"}, "true or false"),
        ({"name": "x", "target": '{"rol": "x"}'}, "no key 'rol'"),
        ({"name": "x", "nmae": "y"}, "no parameter 'nmae'"),
    ]
    for given, problem in wrong:
        with pytest.raises(ToolFailure, match=problem):
            read_parameters(made, given)


def test_the_values_of_a_loop_are_a_list_or_separated_by_commas() -> None:
    assert read_values("a, b ,c") == ["a", "b", "c"]
    assert read_values('["a, b", 3]') == ["a, b", "3"]


def test_a_stored_macro_is_found_changed_and_deleted(tmp_path: Path) -> None:
    store = MacroStore.of_home(tmp_path)
    made = store.create(macro(description="first"), "save-report")
    assert made.name == "macros/save-report"
    assert store.get("save-report") == store.get("macros/save-report") == made
    changed = store.update(made.name, macro(description="second", tags=["new"]), ["description"])
    assert (changed.description, changed.tags) == ("second", ())
    assert store.count_execution(made.name).execution_count == 1
    with pytest.raises(ToolFailure, match="already a macro 'save-report'"):
        store.create(macro(), "save-report")
    with pytest.raises(ToolFailure, match="cannot be changed: name"):
        store.update(made.name, macro(), ["name"])
    with pytest.raises(ToolFailure, match="no macro 'save-reprot'"):
        store.get("macros/save-reprot")
    for name in ("../x", "macros/../../x", "A", "x" * 64):
        with pytest.raises(ToolFailure):
            store.get(name)
    store.delete(made.name)
    assert store.all() == []


def test_a_damaged_file_hides_no_other_macro(tmp_path: Path) -> None:
    store = MacroStore(tmp_path)
    store.create(macro(), "good")
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "large.json").write_text(" " * (MAX_BYTES + 1))
    (tmp_path / ".good.json.tmp").write_text("half")
    assert [each.name for each in store.all()] == ["macros/good"]
    with pytest.raises(ToolFailure, match="cannot be read"):
        store.get("broken")


def _count(folder: Path, times: int) -> None:
    for _ in range(times):
        MacroStore(folder).count_execution("shared")


def test_several_processes_lose_no_change(tmp_path: Path) -> None:
    store = MacroStore(tmp_path)
    store.create(macro(), "shared")
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_count, args=(tmp_path, 20)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert store.get("shared").execution_count == 60
    assert json.loads((tmp_path / "shared.json").read_text())["execution_count"] == 60


def test_there_are_limits_on_number_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MacroStore(tmp_path)
    monkeypatch.setattr("toolcrib.bundled.desktop.macros.store.MAX_MACROS", 2)
    store.create(macro())
    store.create(macro())
    with pytest.raises(ToolFailure, match="already 2 macros"):
        store.create(macro())
    large = [{"input": {"type_text": {"text": "ä" * 10_000}}}] * 40
    with pytest.raises(ToolFailure, match="larger than 512 KiB"):
        store.update(store.all()[0].name, macro(*large))


def test_the_macro_in_the_documentation_is_valid() -> None:
    page = (Path(__file__).parents[3] / "docs" / "desktop-macros.md").read_text()
    example = read_macro(json.loads(page.split("```json\n", 1)[1].split("```", 1)[0]))
    variables = read_parameters(example, {"who": " Ada "})
    line = next(each.assign for each in example.actions if each.assign)
    assert line.expression is not None
    assert evaluate(line.expression, variables) == "Dear Ada,"


def test_a_macro_is_a_workflow_without_problems() -> None:
    condition = {"variable_equals": {"variable": "x", "value": "1"}}
    nested = {"conditional": {"condition": condition, "then_actions": [PRESS], "else_actions": [PRESS]}}
    empty = {"conditional": {"condition": condition, "then_actions": []}}
    foreach = {"loop": {"actions": [nested, empty], "foreach": {"item_variable": "item", "values": "a"}}}
    inner = {"loop": {"actions": [foreach], "while_condition": condition}}
    made = macro({"loop": {"actions": [inner, PRESS], "count": 2}}, empty, nested)
    assert read(macro_workflow(made), TYPES.__getitem__).problems == ()

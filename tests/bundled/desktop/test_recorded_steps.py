"""How recorded input becomes the actions of a macro, and what keys of other layouts type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from toolcrib.bundled.desktop.backend import Element, Window
from toolcrib.bundled.desktop.backends.x11.keysyms import keysym_of, modifiers_of, name_of, text_of
from toolcrib.bundled.desktop.geometry import Point, Rect
from toolcrib.bundled.desktop.macros.model import Macro, read_macro
from toolcrib.bundled.desktop.recording.recorder import Look, element_at, selector_for
from toolcrib.bundled.desktop.recording.steps import StepList, selector_text
from toolcrib.bundled.desktop.recording.workflow import recorded_workflow
from toolcrib.bundled.desktop.records import write_record
from toolcrib.features.workflows.graph.validation import validate
from toolcrib.graph.references import resolve
from toolcrib.serverkit.context import ToolFailure

HERE = Point(10, 10)


def steps_of(macro: Macro) -> list[tuple[str, dict[str, str]]]:
    found = []
    for each in macro.actions:
        args = dict(each.method_call.args) if each.method_call else {"duration": str(each.wait.duration)}  # type: ignore[union-attr]
        args.pop("application", None)
        found.append((each.method_call.method if each.method_call else "wait", args))
    return found


def test_characters_are_joined_accents_composed_and_corrections_applied() -> None:
    steps = StepList()
    for character in ("c", "a", "f", "\u0301", "e", "x"):
        steps.text("editor", character)
    steps.key("editor", "backspace", ())
    steps.key("editor", "return", ())
    steps.key("editor", "return", ())
    steps.pause(100)
    steps.pause(420)
    steps.pause(9000)
    for character in "${a}":
        steps.text("editor", character)
    assert steps_of(steps.macro("x")) == [
        ("type_text", {"text": "café"}),
        ("press_key", {"key": "return", "times": "2"}),
        ("wait", {"duration": "0.4"}),
        ("type_text", {"text": "$${a}"}),
    ]


def test_two_clicks_in_time_are_a_double_click() -> None:
    steps, target = StepList(), {"selector": "text:OK"}
    steps.click("a", target, 1, HERE, 1000)
    steps.click("a", target, 1, HERE.moved(2, 0), 1300)
    steps.click("a", target, 1, HERE, 1500)
    steps.click("a", target, 1, HERE, 2500)
    steps.click("a", target, 3, HERE, 2600)
    assert [args.get("click") for _, args in steps_of(steps.macro("x"))] == ["double", None, None, "right"]


def test_each_application_and_secret_gets_a_parameter() -> None:
    steps = StepList()
    steps.text("one", "a")
    steps.secret("two")
    steps.secret("two")
    steps.key("two", "tab", ())
    steps.secret("one")
    made = steps.macro("x")
    keys = [(each.key, each.default_value, each.required) for each in made.parameters]
    assert keys == [
        ("application", "one", False),
        ("application_2", "two", False),
        ("secret_1", "", True),
        ("secret_2", "", True),
    ]
    assert write_record(made)["actions"][1]["method_call"]["args"] == {
        "text": "${secret_1}",
        "application": "${application_2}",
    }


def element(number: int, role: str, name: str, rect: Rect, *states: str, description: str = "") -> Element:
    shown = frozenset({"showing", *states})
    return Element(("p", str(number)), None, role, name, description, shown, rect=rect)


def test_a_click_means_the_element_that_can_be_clicked_there() -> None:
    window = Window(1, "w", 7, "w", Rect(0, 0, 100, 100), 0, active=True)
    button = element(1, "push button", "Save", Rect(0, 0, 40, 20))
    label = element(2, "label", "Save", Rect(5, 5, 20, 10))
    first, second = (element(n, "text", "", Rect(0, 20 * n, 90, 20), "editable") for n in (3, 4))
    password = element(5, "password text", "", Rect(0, 40, 90, 20))
    look = Look(1.0, (window,), 7, (button, label, first, second, password), True)
    assert element_at(look, HERE) is button
    assert selector_for(look, button) == {"role": "push button", "text": "Save"}
    assert selector_for(look, first) is None
    alone = Look(1.0, (window,), 7, (first, password), True)
    assert selector_for(alone, first) == {"attributes": {"role": "text"}}
    covered = Window(2, "other", 8, "o", Rect(0, 0, 50, 50), 1)
    assert element_at(Look(1.0, (window, covered), 7, (button,), True), HERE) is None


@pytest.mark.parametrize(
    ("row", "state", "text"),
    [
        ([0x61, 0x41], 0, "a"),
        ([0x61, 0x41], 1, "A"),
        ([0x61, 0x41], 2, "A"),
        ([0x61, 0x41], 3, "a"),
        ([0x71, 0x51, 0, 0, 0x40, 0], 128, "@"),
        ([0x61, 0x41, 0x6C6, 0x6E6], 0x2000, "ф"),
        ([0x61, 0x41, 0x6C6, 0x6E6], 0x2001, "Ф"),
        ([0x6C6, 0x6E6], 2, "Ф"),
        ([0x7E1, 0x7C1], 0, "α"),
        ([0x1E8, 0x1C8], 0, "č"),
        ([0x10020AC], 0, "€"),
        ([0xFF96, 0xFFB4], 16, "4"),
        ([0xFF96, 0xFFB4], 0, ""),
        ([0xFE51], 0, "\u0301"),
        ([0xFF0D], 0, ""),
        ([], 0, ""),
    ],
)
def test_a_key_types_what_its_layout_says(row: list[int], state: int, text: str) -> None:
    assert text_of(keysym_of(row, state)) == text


def test_keys_have_names_and_modifiers() -> None:
    assert (name_of(0xFF0D), name_of(0xFFE3), name_of(0xFFC2)) == ("return", "", "f5")
    assert modifiers_of(4 | 1, "S") == ("ctrl", "shift")
    assert modifiers_of(1, "S") == ()
    assert modifiers_of(1, "") == ("shift",)


def test_recorded_steps_are_the_nodes_of_a_workflow() -> None:
    steps = StepList()
    steps.click("editor", {"selector": selector_text({"role": "button", "text": "Save {{all}}"})}, 3, HERE, 0)
    for character in "${x} {{":
        steps.text("editor", character)
    steps.key("editor", "s", ("ctrl", "shift"))
    steps.window("Save ${as}")
    steps.secret("editor")
    steps.click("terminal", {"x": "10", "y": "12"}, 1, HERE, 1000)
    steps.click("terminal", {"x": "10", "y": "12"}, 1, HERE, 1100)
    steps.scroll("terminal", HERE, 3, -1)
    steps.pause(420)
    steps.key("terminal", "return", ())
    steps.key("terminal", "return", ())
    made = recorded_workflow(replace(steps.macro("Save"), name="macros/save"))
    assert validate(made) == ()
    assert {name: (each.default, each.required, each.secret) for name, each in made.inputs.items()} == {
        "application": ("editor", False, False),
        "application_2": ("terminal", False, False),
        "secret_1": (None, True, True),
    }
    values = {
        "input": {"application": "1", "application_2": "2", "secret_1": "s"},
        "focus_window_3": {"window": 7},
    }
    values |= {"focus_window_4": {"window": 8}}
    selector = {"role": "button", "text": "Save {{all}}"}
    inside = {"space": "window", "reference": 7}
    clicked = {"selector": selector, "parent": "1", "click_type": "right"}
    assert [(each.type, resolve(each.settings, values)) for each in made.nodes.values()] == [
        ("McpToolCall", {"tool": "desktop__click_element", "arguments": clicked}),
        ("FocusWindow", {"value": "1"}),
        ("TypeText", {"text": "${x} {{"}),
        ("PressKey", {"key": "s", "modifiers": ["ctrl", "shift"]}),
        ("FocusWindow", {"method": "window_id", "value": "Save ${as}"}),
        ("TypeText", {"text": "s"}),
        ("FocusWindow", {"value": "2"}),
        ("Click", {"x": 10, "y": 12, "extra": inside, "click_count": 2}),
        ("FocusWindow", {"value": "2"}),
        ("Scroll", {"delta_y": 3, "x": 10, "y": 10, "extra": {**inside, "reference": 8, "delta_x": -1}}),
        ("Wait", {"seconds": 0.4}),
        ("PressKey", {"key": "return", "extra": {"times": 2}}),
    ]


def test_what_a_workflow_cannot_do_is_refused() -> None:
    steps = StepList()
    steps.drag("editor", HERE, Point(20, 20))
    with pytest.raises(ToolFailure, match="no step for 'drag'"):
        recorded_workflow(replace(steps.macro("Drag"), name="macros/drag"))
    for action, problem in (
        ({"assign": {"variable": "x", "expression": "1 + 1"}}, "no step for 'assign'"),
        ({"method_call": {"method": "Click", "args": {"x": "1", "y": "1"}}}, "has no 'application'"),
    ):
        macro = read_macro({"display_name": "x", "actions": [action]})
        with pytest.raises(ToolFailure, match=problem):
            recorded_workflow(replace(macro, name="macros/x"))

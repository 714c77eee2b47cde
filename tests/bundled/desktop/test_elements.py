"""Selectors, ids, outlines and differences, on trees made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolcrib.bundled.desktop.backend import Element, ElementTree, Window
from toolcrib.bundled.desktop.backends.x11.atspi.vocabulary import clean_name, role_name, state_names
from toolcrib.bundled.desktop.elements import acting
from toolcrib.bundled.desktop.elements.difference import compare_trees, compare_windows, summarise
from toolcrib.bundled.desktop.elements.outline import fit, line, reduce
from toolcrib.bundled.desktop.elements.selector import parse_selector
from toolcrib.bundled.desktop.elements.snapshots import Snapshots, StaleElement, find_nearest
from toolcrib.bundled.desktop.elements.web_pages import page_around
from toolcrib.bundled.desktop.failures import InvalidFormat
from toolcrib.bundled.desktop.geometry import PictureSpace, Point, Rect
from toolcrib.serverkit.context import ToolFailure

USUAL = frozenset({"showing", "visible", "enabled", "sensitive"})


def element(
    path: str,
    role: str,
    name: str = "",
    parent: str | None = None,
    states: frozenset[str] = USUAL,
    **rest: Any,
) -> Element:
    return Element((":1.5", path), (":1.5", parent) if parent else None, role, name, states=states, **rest)


SAVE = element("/save", "push button", "Save As…", "/bar", rect=Rect(10, 20, 80, 30))
AGREE = element("/agree", "check box", "Agree", "/bar", USUAL | {"checked"})
FIELD = element("/field", "entry", "Full name", "/bar", USUAL | {"editable"}, text="Ada Łovelace")
FRAME = element("/frame", "frame", "Form", "/app")
BAR = element("/bar", "panel", "", "/frame")
TREE = ElementTree(7, (element("/app", "application", "program"), FRAME, BAR, SAVE, AGREE, FIELD))


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ({"role": "button"}, {"/save"}),
        ({"role": "AXButton"}, {"/save"}),
        ({"role": "check_box"}, {"/agree"}),
        ({"role": "textbox"}, {"/field"}),
        ("role:button", {"/save"}),
        ("text:agree", {"/agree"}),
        ("textContains:name", {"/field"}),
        ({"text": "save as..."}, {"/save"}),
        ({"text": "Ada Łovelace"}, {"/field"}),
        ({"contains": "LOVELACE".replace("L", "Ł", 1)}, {"/field"}),
        ({"regex": r"^(save|agree)"}, {"/save", "/agree"}),
        ({"position": {"x": 15, "y": 25}}, {"/save"}),
        ({"position": {"x": 5, "y": 15, "tolerance": 6}}, {"/save"}),
        ({"position": {"x": 5, "y": 15}}, set()),
        ({"attributes": {"checked": "true"}}, {"/agree"}),
        ({"attributes": {"value": "Ada Łovelace", "enabled": "true"}}, {"/field"}),
        ({"role": "button", "text": "Agree"}, set()),
        ({"or": [{"role": "button"}, {"role": "check box"}]}, {"/save", "/agree"}),
        ({"and": [{"role": "button"}, {"not": {"contains": "save"}}]}, set()),
        (
            {"compound": {"operator": "OPERATOR_OR", "selectors": [{"text": "Agree"}, {"text": "Form"}]}},
            {"/agree", "/frame"},
        ),
    ],
)
def test_a_selector_finds_what_it_describes(selector: Mapping[str, Any] | str, found: set[str]) -> None:
    parsed = parse_selector(selector)
    assert {each.ref[1] for each in TREE.elements if parsed.matches(each)} == found


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ({}, "at least one key"),
        ({"rol": "button"}, "no key 'rol'"),
        ({"role": ""}, "needs a text"),
        ({"role": 3}, "needs a text"),
        ({"regex": "("}, "not valid"),
        ({"regex": "(a+)+$"}, "too complex"),
        ({"regex": "((a|b)*c)*"}, "too complex"),
        ({"regex": "a" * 300}, "too complex"),
        ({"position": {"x": 1}}, "x and y"),
        ({"attributes": {}}, "object of names"),
        ({"and": []}, "needs a list"),
        ({"compound": {"operator": "XOR", "selectors": [{"role": "a"}]}}, "AND, OR or NOT"),
    ],
)
def test_a_wrong_selector_is_refused_with_a_reason(selector: Any, reason: str) -> None:
    with pytest.raises(ToolFailure, match=reason):
        parse_selector(selector)


def test_a_deeply_nested_selector_is_refused() -> None:
    selector: dict[str, Any] = {"role": "button"}
    for _ in range(20):
        selector = {"not": selector}
    with pytest.raises(ToolFailure, match="too deeply"):
        parse_selector(selector)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("7 7", "7"),
        ("  New  ", "New"),
        ("a\n b", "a b"),
        ("12 12", "12"),
        ("1 2", "1 2"),
        (None, ""),
        ("GtkListBox", ""),
    ],
)
def test_names_are_cleaned(raw: str | None, clean: str) -> None:
    assert clean_name(raw) == clean


def test_roles_and_states_have_their_official_numbers() -> None:
    assert [role_name(number) for number in (7, 23, 43, 61, 79, 88, 95, 129)] == [
        "check box", "frame", "push button", "text", "entry", "link", "document web", "push button menu",
    ]  # fmt: skip
    assert role_name(9999) == "role 9999"
    assert state_names([1 << 25 | 1 << 30, 1 << 9]) == {"showing", "visible", "checkable"}


def test_an_id_belongs_to_its_snapshot() -> None:
    snapshots = Snapshots()
    first, second = snapshots.add(TREE), snapshots.add(TREE)
    name = first.id_of(SAVE)
    assert first.id_of(SAVE) == name
    assert second.id_of(SAVE) != name
    assert snapshots.find(name) == (first, SAVE)
    for wrong in ("", "s1", "s1e99", "s99e1", "nonsense"):
        with pytest.raises(StaleElement):
            snapshots.find(wrong)


def test_old_snapshots_are_forgotten() -> None:
    snapshots = Snapshots()
    name = snapshots.add(TREE).id_of(SAVE)
    for _ in range(30):
        snapshots.add(TREE)
    with pytest.raises(StaleElement, match="too old"):
        snapshots.find(name)


def test_the_nearest_match_has_the_same_role_and_a_similar_name() -> None:
    now = ElementTree(7, (element("/new", "push button", "Save"), element("/other", "push button", "Cancel")))
    assert find_nearest(SAVE, now) == now.elements[0]
    assert find_nearest(AGREE, now) is None


def test_an_outline_leaves_out_layout_and_hidden_elements() -> None:
    hidden = element("/menu", "menu item", "Secret", "/bar", frozenset({"visible"}))
    label = element("/label", "label", "Agree", "/agree")
    nodes = reduce((*TREE.elements, hidden, label))
    assert [(node.element.ref[1], node.depth) for node in nodes] == [
        ("/frame", 0),
        ("/save", 1),
        ("/agree", 1),
        ("/field", 1),
    ]
    assert line(FIELD, "s1e3") == "s1e3 entry 'Full name' value='Ada Łovelace'"
    assert line(AGREE, "s1e2") == "s1e2 check box 'Agree' [checked]"


def test_a_reply_keeps_to_its_budget() -> None:
    lines = [f"line {number:04}" for number in range(1000)]
    kept = fit(lines, 50)
    assert kept == lines[:20]
    assert len(summarise(lines)) == 26
    assert summarise(lines)[-1] == "… and 975 more changes"


def test_the_difference_names_what_came_went_and_changed() -> None:
    dialog = element("/dialog", "dialog", "Save As", "/app")
    unchecked = element("/agree", "check box", "Agree", "/bar")
    filled = element("/field", "entry", "Full name", "/bar", USUAL | {"editable", "focused"}, text="Bob")
    after = ElementTree(7, (FRAME, BAR, unchecked, filled, dialog))
    assert compare_trees(TREE, after) == [
        "~ entry 'Full name': contains 'Bob', focused",
        "~ check box 'Agree': not checked",
        "+ dialog 'Save As'",
        "- push button 'Save As…'",
    ]
    assert compare_trees(TREE, TREE) == []


def test_an_incomplete_tree_reports_nothing_as_gone() -> None:
    assert compare_trees(TREE, ElementTree(7, (FRAME,), complete=False)) == []


def test_the_page_around_an_element_is_found() -> None:
    def page(*states: str) -> ElementTree:
        document = element("/page", "document web", "", "/frame", USUAL | set(states))
        start = element("/start", "push button", "Start", "/page")
        return ElementTree(7, (FRAME, document, start, SAVE, BAR))

    loading, loaded = page("busy"), page()
    assert page_around(loading, loading.elements[2]) == loading.elements[1]
    assert page_around(loading, SAVE) is None
    assert page_around(loaded, loaded.elements[2]) == loaded.elements[1]


@pytest.mark.parametrize(
    ("role", "value", "wanted"),
    [
        ("check box", "true", True),
        ("switch", " Off ", False),
        ("radio button", "yes", True),
        ("radio button", "false", None),
        ("check box", "sometimes", None),
    ],
)
def test_a_state_is_named_by_common_words(role: str, value: str, wanted: bool | None) -> None:
    given = element("/one", role, "One")
    if wanted is not None:
        assert acting.wanted_state(given, value) is wanted
        return
    with pytest.raises(InvalidFormat):
        acting.wanted_state(given, value)


def test_a_mixed_check_box_is_neither_on_nor_off() -> None:
    states = {"on": USUAL | {"checked"}, "off": USUAL, "mixed": USUAL | {"checked", "indeterminate"}}
    found = {
        name: acting.state_of(element("/one", "check box", states=each)) for name, each in states.items()
    }
    assert found == {"on": True, "off": False, "mixed": None}


def test_the_difference_of_windows() -> None:
    def window(number: int, title: str) -> Window:
        return Window(number, title, 7, "Form", Rect(0, 0, 10, 10), 0)

    before, after = [window(1, "a"), window(2, "b")], [window(1, "a*"), window(3, "c")]
    assert compare_windows(before, after) == [
        "+ window 3 'c'",
        "- window 2 'b'",
        "~ window 1 is now called 'a*'",
    ]


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3333])
def test_a_pixel_of_a_scaled_picture_has_its_place_on_the_screen(scale: float) -> None:
    space = PictureSpace(Point(100, 50), scale)
    for x, y in ((0, 0), (123, 77), (1279, 799)):
        found = space.to_screen(x * scale, y * scale)
        assert abs(found.x - x - 100) <= 1
        assert abs(found.y - y - 50) <= 1

"""What a reply says after an action: what changed, what cannot be told, and where keys would go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.backend import Element, ElementTree, Screenshot
from toolcrib.bundled.desktop.elements.difference import changed_area, compare_trees
from toolcrib.bundled.desktop.geometry import Point, Rect

UNKNOWN = "Whether something changed cannot be told: the program offers no elements."


def picture(*painted: Rect) -> Screenshot:
    pixels = numpy.zeros((100, 200, 3), numpy.uint8)
    for rect in painted:
        pixels[rect.y : rect.y + rect.height, rect.x : rect.x + rect.width, 1] = 255
    return Screenshot(pixels, Point(1000, 0))


@pytest.mark.parametrize(
    ("painted", "area"),
    [
        ([], None),
        ([Rect(50, 20, 2, 17)], None),  # a text cursor that blinks
        ([Rect(50, 20, 2, 17), Rect(50, 60, 2, 17)], Rect(1050, 20, 2, 57)),  # one that moved
        ([Rect(50, 20, 10, 10)], Rect(1050, 20, 10, 10)),  # a tick
        ([Rect(0, 0, 1, 1), Rect(199, 99, 1, 1)], Rect(1000, 0, 200, 100)),
    ],
)
def test_the_area_that_looks_different_leaves_a_blinking_cursor_out(
    painted: list[Rect], area: Rect | None
) -> None:
    assert changed_area(picture(), picture(*painted)) == area


def test_texts_are_compared_and_said_before_what_only_became_disabled() -> None:
    def tree(text: str, *states: str) -> ElementTree:
        shown = frozenset({"showing", "visible", *states})
        button = Element(("p", "1"), None, "push button", "Sum", states=shown)
        log = Element(("p", "2"), None, "text", "", states=shown, text=text)
        return ElementTree(1, (button, log))

    before, after = tree("first\nsecond\n", "sensitive", "enabled"), tree("first\nsecond\nthird\n")
    lines = compare_trees(before, after)
    assert lines[0].startswith("~ text: contains '…third")
    assert lines[1].startswith("~ push button 'Sum': disabled")
    assert compare_trees(before, ElementTree(1, ())) == []


async def text_of(full: FullTools, tool: str, **arguments: Any) -> str:
    result = await full.result(tool, **arguments)
    assert not result["isError"], result
    return str(result["content"][0]["text"])


async def test_a_program_without_elements_gets_no_claim_that_nothing_changed(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("xterm", "-e", "cat")
    window = (await full.window(process))["id"]
    typed = await text_of(full, "type_text", text="abc", window=window)
    assert UNKNOWN in typed
    assert "look different: see take_screenshot" in typed
    assert "No visible change" not in typed

    async def pressed() -> bool:
        said = await text_of(full, "press_key", key="shift", window=window)
        assert UNKNOWN in said
        return said.endswith("The screen looks the same.")

    assert await eventually(pressed)


async def test_pixels_that_changed_without_an_element_are_named(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    page = tmp_path / "lines.txt"
    page.write_text("\n".join(f"line {number}" for number in range(200)))
    process = programs.start("zenity", "--text-info", f"--filename={page}")
    text = await full.element(process, role="text")
    bounds = text["bounds"]
    place = {"x": bounds["x"] + 40, "y": bounds["y"] + 40}
    scrolled = await text_of(full, "scroll", **place, delta_y=5)
    assert "No element or text changed. But " in scrolled
    assert "look different" in scrolled


async def test_a_written_field_has_the_focus_for_the_keys_that_follow(
    full: FullTools, programs: Programs
) -> None:
    form = programs.start("zenity", "--forms", "--text=Form", "--add-entry=First", "--add-entry=Second")
    await full.element(form, role="textbox")
    found = await full.data("find_elements", parent=str(form.pid), selector={"role": "textbox"})
    fields = [each["id"] for each in found["elements"]]
    other = programs.start("xterm", "-e", "cat")
    await full.data("focus_window", window_id=(await full.window(other))["id"])
    said = await text_of(full, "write_element_value", element_id=fields[1], value="Prague")
    assert "Keys go to" not in said
    await full.data("press_key", key="end")
    await full.data("type_text", text="!")
    texts = [(await full.data("get_element", name=f"applications/-/elements/{each}")) for each in fields]
    assert [each["value"] for each in texts] == ["", "Prague!"]


async def test_a_text_that_is_read_only_is_not_written_to(full: FullTools, programs: Programs) -> None:
    """Qt lets accessibility change texts that a user cannot change."""
    process = programs.start("featherpad")
    await full.element(process, role="text")
    await full.data("press_key", key="ctrl+h")  # its help, in the window that it has
    found = await full.data(
        "find_elements",
        parent=str(process.pid),
        selector={"role": "text", "text_contains": "General"},
        wait=20,
    )
    help_text = found["elements"][0]
    refused = await full.result("write_element_value", element_id=help_text["id"], value="other")
    assert "cannot be written to" in refused["content"][0]["text"]
    assert (await full.data("get_element", name=help_text["id"]))["value"] == help_text["value"]


async def test_a_value_out_of_range_is_answered_with_the_one_that_was_set(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("zenity", "--scale", "--min-value=0", "--max-value=10", "--value=5")
    slider = await full.element(process, role="slider")
    for value in ("50", "60"):
        said = await text_of(full, "write_element_value", element_id=slider["id"], value=value)
        assert "But it contains '10' now." in said


async def test_a_reply_says_where_keys_go_if_not_to_the_element(full: FullTools, programs: Programs) -> None:
    process = programs.start(
        "zenity", "--forms", "--text=Form", "--add-entry=Name", "--add-combo=Size", "--combo-values=S|M|L"
    )
    field = await full.element(process, role="textbox")
    await full.data("click_element", element_id=field["id"])
    box = await full.element(process, role="combo box")
    said = await text_of(full, "write_element_value", element_id=box["id"], value="M")
    assert "Keys go to text in the window " in said

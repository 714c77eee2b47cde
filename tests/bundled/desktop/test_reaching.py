"""The pointer acts on an element only where its program does not say that another one is."""

from __future__ import annotations

import itertools
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.backend import Backend, Element, ElementTree
from toolcrib.bundled.desktop.elements.search import wait_for, with_places
from toolcrib.bundled.desktop.elements.selector import parse_selector

PDF = b"""%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >> endobj
trailer << /Size 4 /Root 1 0 R >>
%%EOF
"""
COVERED = """
<title>Covered</title><body style="margin: 0">
<div style="position: fixed; inset: 0; z-index: 2"><button style="margin: 300px">On top</button></div>
<button style="margin: 100px" onclick="document.title = 'Clicked'">Beneath</button>
"""


@pytest.mark.parametrize("program", ["mousepad", "featherpad", "gnome-calculator"])
async def test_programs_of_each_toolkit_say_which_element_is_at_a_point(
    backend: Backend, programs: Programs, program: str
) -> None:
    process = programs.start(program)
    await window_of(backend, process)
    role = "menu item" if program == "featherpad" else "menu" if program == "mousepad" else "button"
    found = await wait_for(backend, process.pid, parse_selector({"role": role, "regex": "."}), 30)
    shown = [each for each in found.matches if each.visible and each.rect is not None]

    async def at(wanted: Element, place: Element) -> tuple[str, str]:
        assert place.rect is not None
        answer = await backend.accessibility.at_point(wanted.ref, place.rect.centre)
        return answer.state, answer.element.name if answer.element is not None else ""

    # The window buttons of GTK 4 are at places that it says nothing about.
    known = [each for each in shown if await at(each, each) == ("there", "")]
    assert len(known) > 3
    for wanted, place in itertools.pairwise(known):
        state, name = await at(wanted, place)
        assert (state, name in (place.name, "")) == ("other", True)


async def test_what_is_in_a_closed_menu_is_hidden_and_shown_in_an_open_one(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("featherpad")
    entry = {"role": "menu item", "text": "New"}

    async def states() -> list[list[str]]:
        found = await full.data("find_elements", parent=str(process.pid), selector=entry)
        return [each["states"] for each in found["elements"]]

    menu = await full.element(process, role="menu item", text="File")
    assert ["hidden"] in await states()
    await full.data("click_element", element_id=menu["id"])
    assert await eventually(lambda: _not_hidden(states))
    clicked = await full.data("click_element", parent=str(process.pid), selector=entry)
    assert clicked["method"] == "pointer"


async def _not_hidden(states: Any) -> bool:
    return any("hidden" not in each for each in await states())


async def test_a_field_under_the_open_list_of_a_combo_box_is_refused(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start(
        "zenity", "--forms", "--text=Form", "--add-combo=Size", "--combo-values=S|M|L|XL", "--add-entry=Below"
    )
    box = await full.element(process, role="combo box")
    field = await full.element(process, role="textbox")
    await full.data("click_element", element_id=box["id"])
    refused = await full.result("click_element", element_id=field["id"])
    assert "open menu or list" in refused["content"][0]["text"]
    entry = {"parent": str(process.pid), "selector": {"role": "menu item", "text": "L"}}
    assert (await full.data("click_element", **entry))["method"] == "pointer"
    assert (await full.element(process, role="combo box"))["name"] == "L"


async def _windows(full: FullTools, process: Popen[bytes]) -> list[dict[str, Any]]:
    listed = await full.data("list_windows", parent=str(process.pid))
    return list(listed["windows"])


async def _opened_beside(full: FullTools, process: Popen[bytes], known: dict[str, Any]) -> Any:
    """Another window of a program, once it is there."""

    async def other() -> Any:
        return next((each for each in await _windows(full, process) if each["id"] != known["id"]), None)

    return await eventually(other)


async def test_a_click_reaches_the_lower_of_two_windows_of_a_program(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("mousepad")
    lower = await full.window(process)
    text = await full.element(process, role="text", attributes={"multi_line": "true"})
    await full.data("press_key", key="ctrl+shift+n", window=lower["id"])

    for window in (lower, await _opened_beside(full, process, lower)):
        await full.data("resize_window", name=window["name"], width=500, height=300)
        await full.data("move_window", name=window["name"], x=60, y=60)
    await full.data("click_element", element_id=text["id"])
    await full.data("type_text", text="below")
    read = await full.data("get_element", name=text["id"])
    active = [each["id"] for each in await _windows(full, process) if each["active"]]
    assert (read["value"], active) == ("below", [lower["id"]])


async def test_what_another_window_of_the_program_covers_is_not_clicked(
    full: FullTools, programs: Programs
) -> None:
    """A search dialog stays above its window also when that is brought to the front."""
    process = programs.start("mousepad")
    main = await full.window(process)
    text = await full.element(process, role="text", attributes={"multi_line": "true"})
    await full.data("resize_window", name=main["name"], width=400, height=250)
    await full.data("move_window", name=main["name"], x=200, y=160)
    await full.data("press_key", key="ctrl+r", window=main["id"])
    dialog = await _opened_beside(full, process, main)
    await full.data("move_window", name=dialog["name"], x=150, y=150)
    refused = await full.result("click_element", element_id=text["id"])
    assert "Another window of the program covers" in refused["content"][0]["text"]


async def test_what_is_beyond_the_edge_of_the_screen_is_not_pointed_at(
    full: FullTools, programs: Programs
) -> None:
    process = programs.start("mousepad")
    main = await full.window(process)
    first = await full.element(process, role="menu", text="File")
    last = await full.element(process, role="menu", text="Help")
    (screen,) = (await full.data("list_displays"))["displays"]
    right = screen["frame"]["width"]
    await full.data("move_window", name=main["name"], x=right - 20, y=60)
    beyond = {"click": {"position": {"element": last["id"]}}}
    refused = await full.result("create_input", input={"action": beyond})
    assert "beyond the edge of the screen" in refused["content"][0]["text"]
    assert (await full.data("click_element", element_id=first["id"]))["method"] == "pointer"
    assert "selected" in (await full.data("get_element", name=first["id"]))["states"]


@pytest.mark.acceptance
async def test_rows_of_a_page_that_is_not_shown_are_hidden_and_not_clicked(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    """qpdfview has panels that are closed, whose rows say that they are shown where its menu bar is."""
    document = tmp_path / "page.pdf"
    document.write_bytes(PDF)
    process = programs.start("qpdfview", str(document))
    row = await full.element(process, role="table cell", text="Page 1")
    assert "hidden" in row["states"]
    tree = await full.backend.accessibility.tree(process.pid, 5)
    hidden = _inside_hidden(tree)
    assert hidden
    assert not [each for each in await with_places(full.backend, hidden) if each.visible]
    before = await full.data("list_windows")
    position = {"element": row["id"]}
    for action in ({"click": {"position": position}}, {"scroll": {"position": position, "vertical": 1}},
                   {"drag": {"start_position": position, "end_position": {"x": 5, "y": 5}}}):  # fmt: skip
        refused = await full.result("create_input", input={"action": action})
        assert "is not on the screen" in refused["content"][0]["text"]
    refused = await full.result("click_element", element_id=row["id"])
    assert "could not be clicked" in refused["content"][0]["text"]
    assert await full.data("list_windows") == before


def _inside_hidden(tree: ElementTree) -> list[Element]:
    by_ref = {each.ref: each for each in tree.elements}
    around = [by_ref.get(each.parent or ("", "")) for each in tree.elements]
    return [
        each
        for each, parent in zip(tree.elements, around, strict=True)
        if parent is not None and parent.role != "application" and not parent.states & {"showing", "visible"}
    ]


@pytest.mark.acceptance
async def test_a_button_under_a_transparent_layer_of_a_page_is_refused(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    page = tmp_path / "covered.html"
    page.write_text(COVERED)
    process = programs.start(
        "chromium", "--no-sandbox", "--disable-gpu", "--force-renderer-accessibility", "--no-first-run",
        "--disable-dev-shm-usage", f"--user-data-dir={tmp_path / 'profile'}", f"--app={page.as_uri()}",
    )  # fmt: skip
    beneath = await full.element(process, role="button", text="Beneath")
    refused = await full.result("click_element", element_id=beneath["id"])
    assert "not push button 'Beneath', so nothing was done" in refused["content"][0]["text"]
    on_top = await full.element(process, role="button", text="On top")
    assert (await full.data("click_element", element_id=on_top["id"]))["method"] == "pointer"
    assert (await full.window(process))["title"].startswith("Covered")

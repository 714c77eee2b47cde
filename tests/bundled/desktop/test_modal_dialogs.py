"""Modal dialogs come first, and nothing behind them is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually
from tests.bundled.desktop.full_tools import FullTools
from toolcrib.bundled.desktop.backend import Element, ElementTree, Window
from toolcrib.bundled.desktop.geometry import Rect
from toolcrib.bundled.desktop.modality import blocked_elements, blocked_windows
from toolcrib.bundled.desktop.own_page import OwnPageGuard

CHROMIUM = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
PAGE = """<title>Questions</title><button onclick="alert('Careful')">Ask</button>
<button onclick="document.title = 'Reached'">OK</button>"""


def window(number: int, title: str, *, modal: bool = False, owner: int | None = None) -> Window:
    return Window(number, title, 7, "", Rect(0, 0, 9, 9), number, modal=modal, owner=owner)


def test_a_modal_dialog_blocks_the_windows_that_own_it_and_no_other() -> None:
    first, second = window(1, "First"), window(2, "Second")
    search = window(3, "Find", owner=1)
    save = window(4, "Save", modal=True, owner=1)
    replace = window(5, "Replace?", modal=True, owner=4)
    assert blocked_windows([first, second, search]) == {}
    assert blocked_windows([first, second, search, save]) == {1: save}
    assert blocked_windows([first, second, save, replace]) == {1: replace, 4: replace}
    unowned = window(6, "Question", modal=True, owner=99)
    assert blocked_windows([first, second, unowned]) == {1: unowned, 2: unowned}
    circular = window(8, "Circle", modal=True, owner=8)
    assert blocked_windows([first, circular]) == {}


def element(path: str, role: str, name: str, parent: str | None, *states: str) -> Element:
    above = None if parent is None else (":1", parent)
    return Element((":1", path), above, role, name, states=frozenset({"showing", *states}))


@pytest.mark.parametrize(("title", "added"), [("Book", ""), ("", ""), ("Book", " — Program")])
def test_elements_of_a_blocked_window_are_found_by_its_title(title: str, added: str) -> None:
    """Qt programs have windows whose element has no name, and add their own name to titles."""
    elements = (
        element("root", "application", "program", None),
        element("main", "frame", title, "root"),
        element("undo", "push button", "Undo", "main"),
        element("ask", "dialog", "Save", "root"),
        element("ok", "push button", "OK", "ask"),
        element("popup", "popup menu", "", "root"),
    )
    dialog = f"Save{added}"
    windows = [window(1, f"Book{added}"), window(2, dialog, modal=True, owner=1)]
    blocked = blocked_elements(ElementTree(7, elements), windows)
    assert {ref[1]: blocking for ref, blocking in blocked.items()} == {"main": dialog, "undo": dialog}
    assert blocked_elements(ElementTree(7, elements), [window(1, "Book"), window(2, "Save", owner=1)]) == {}


@pytest.mark.parametrize(("title", "states"), [("", ()), ("program", ("modal",))])
def test_a_dialog_without_a_title_does_not_block_itself(title: str, states: tuple[str, ...]) -> None:
    """Its window may have no title either, or the name of the program."""
    elements = (
        element("root", "application", "program", None),
        element("main", "frame", "Book", "root"),
        element("ask", "dialog", "", "root", *states),
        element("ok", "push button", "OK", "ask"),
    )
    windows = [window(1, "Book"), window(2, title, modal=True, owner=1)]
    assert set(blocked_elements(ElementTree(7, elements), windows)) == {(":1", "main")}


def test_a_dialog_with_the_title_of_its_window_blocks_it() -> None:
    elements = (
        element("root", "application", "program", None),
        element("main", "frame", "Book", "root"),
        element("ask", "alert", "Question", "root", "modal"),
    )
    windows = [window(1, "Book"), window(2, "Book", modal=True, owner=1)]
    assert blocked_elements(ElementTree(7, elements), windows) == {(":1", "main"): "Question"}


def test_a_dialog_that_only_accessibility_calls_modal_blocks_the_other_windows() -> None:
    elements = (
        element("root", "application", "program", None),
        element("main", "frame", "Main", "root"),
        element("ask", "dialog", "Question", "root", "modal"),
        element("popover", "panel", "", "main", "modal"),
    )
    blocked = blocked_elements(ElementTree(7, elements), [])
    assert {ref[1]: dialog for ref, dialog in blocked.items()} == {"main": "Question", "popover": "Question"}


async def guarded(full: FullTools, process: int, *, dialog: str, key: str, blocked: dict[str, Any]) -> None:
    """Open a dialog with a key; then everything in it can be used, and nothing behind it."""
    full.session._opened = OwnPageGuard(full.backend)
    named = {"parent": str(process)}
    main = (await full.data("list_windows", **named))["windows"][0]
    seen = await full.data("find_elements", **named, selector=blocked, wait=20)
    await full.data("press_key", key=key)

    async def is_open() -> bool:
        return len((await full.data("list_windows", **named))["windows"]) == 2

    await eventually(is_open)
    await full.data("find_elements", **named, selector={"text": dialog}, wait=20)
    outline = (await full.result("find_elements", **named))["content"][0]["text"].splitlines()
    assert dialog in outline[0]
    refused = [
        ("click_element", {"selector": blocked, **named}),
        ("click_element", {"element_id": seen["elements"][0]["id"]}),
        ("perform_element_action", {"selector": blocked, "action": "click", **named}),
        ("click", {"x": main["bounds"]["x"] + 5, "y": main["bounds"]["y"] + 5}),
    ]
    for tool, arguments in refused:
        result = await full.result(tool, **arguments)
        assert result["isError"], (tool, arguments, result)
        assert f"blocked by the dialog {dialog!r}" in result["content"][0]["text"]
    await full.data("click_element", selector={"role": "button", "text": "Cancel"}, **named)
    after = await full.data("find_elements", **named, selector=blocked)
    assert "blocked" not in str(after)


async def test_nothing_behind_a_modal_dialog_of_gtk_is_used(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("text")
    process = programs.start("mousepad", str(file))
    main = await full.window(process)
    await full.data("resize_window", name=main["name"], width=1200, height=700)
    await full.data("move_window", name=main["name"], x=20, y=40)
    blocked = {"role": "menu", "text": "File"}
    await guarded(full, process.pid, dialog="Save As", key="ctrl+shift+s", blocked=blocked)


async def test_a_dialog_of_gtk_4_can_be_used_and_what_is_behind_it_cannot(
    full: FullTools, programs: Programs
) -> None:
    """Its places are inside a window, and the dialog has no title."""
    process = programs.start("gnome-calculator")
    await full.window(process)
    named = {"parent": str(process.pid)}
    found = await full.data("find_elements", **named, wait=30)  # it offers them after its window is shown
    assert found["elements"]
    await full.data("press_key", key="ctrl+question")
    shortcut = {"role": "label", "text": "Quit the application"}
    await full.data("find_elements", **named, selector=shortcut, wait=20)
    clicked = await full.data("click_element", **named, selector=shortcut)
    assert clicked["method"] == "pointer"
    behind = await full.result("click_element", **named, selector={"role": "button", "text": "Undo"})
    assert "blocked by the dialog" in behind["content"][0]["text"]


@pytest.mark.acceptance
async def test_a_search_dialog_of_gtk_does_not_block_its_window(full: FullTools, programs: Programs) -> None:
    process = programs.start("mousepad")
    await full.element(process, role="text", attributes={"multi_line": "true"})
    await full.data("focus_window", pid=process.pid)
    await full.data("press_key", key="ctrl+r")
    named = {"parent": str(process.pid)}
    await full.data(
        "find_elements", **named, selector={"text": "Find and Replace", "role": "dialog"}, wait=20
    )
    await full.data("click_element", **named, selector={"role": "menu", "text": "View"})


@pytest.mark.acceptance
async def test_a_question_of_a_web_page_comes_before_the_page(
    full: FullTools, programs: Programs, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    process = programs.start(
        "chromium", *CHROMIUM, "--force-renderer-accessibility", f"--user-data-dir={tmp_path / 'profile'}",
        page.as_uri(),
    )  # fmt: skip
    await full.element(process, role="button", text="Ask")
    named = {"parent": str(process.pid)}
    await full.data("click_element", **named, selector={"role": "button", "text": "Ask"})
    await full.data("find_elements", **named, selector={"text": "Careful"}, wait=20)
    assert (
        await full.reason(
            "perform_element_action", **named, selector={"role": "button", "text": "Ask"}, action="click"
        )
        == "CLICK_REFUSED"
    )
    button = await full.data("find_elements", **named, selector={"role": "button", "text": "OK"})
    assert len(button["elements"]) == 2

    async def is_answered() -> bool:
        """Chromium ignores a click on a dialog that has just appeared."""
        if (await full.data("find_elements", **named, selector={"text": "Careful"}))["elements"]:
            await full.data("click_element", element_id=button["elements"][0]["id"])
            return False
        return True

    await eventually(is_answered)
    assert "Reached" not in (await full.window(process))["title"]

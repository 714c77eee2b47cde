"""The editor of workflows: drawing, edges that are refused, undo, settings, saving and the list view."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import NARROW, Complaints, sign_in
from tests.web.running import Crib
from tests.web.workflows import chain, drag, mapped, node, opened, panel, row, stored
from toolcrib.bundled.desktop.macros.model import read_macro
from toolcrib.bundled.desktop.macros.store import MacroStore
from toolcrib.bundled.desktop.recording.workflow import export_workflow
from toolcrib.feature import missing
from toolcrib.web.answers import error_json


@pytest.fixture(scope="module")
def host() -> Iterator[Crib]:
    """One host for all tests of this module; each uses workflows of its own."""
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    found = Crib(home)
    try:
        yield found.start()
        assert found.stop() == ""
    finally:
        found.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def editor(host: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), host.sign_in_address(), "/workflows")


def saved(host: Crib, name: str) -> list[tuple[str, str, str]]:
    """The stored edges, as source, output and target."""
    edges = host.run("workflow_get", name=name)["workflow"]["edges"]
    return sorted((edge["from"], edge["output"], edge["to"]) for edge in edges)


def test_a_workflow_is_drawn_with_the_mouse_and_saved(host: Crib, editor: Page) -> None:
    editor.keyboard.press("g")
    editor.keyboard.press("w")
    editor.get_by_role("button", name="New workflow").click()
    editor.get_by_label("Name").fill("drawn")
    editor.get_by_role("button", name="Create").click()
    palette = editor.get_by_role("complementary", name="Steps to add")
    palette.get_by_role("button", name="Set values").click()
    palette.get_by_role("button", name="If", exact=True).click()
    canvas = editor.locator(".workflow-canvas")
    palette.get_by_role("button", name="Ask the user").drag_to(canvas, target_position={"x": 120, "y": 520})
    expect(editor.locator(".react-flow__node")).to_have_count(3)

    source = node(editor, "if").locator('[data-handleid="false"]')
    drag(editor, source, node(editor, "ask_user"))

    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Not saved")).to_have_count(0)
    assert saved(host, "drawn") == [("if", "false", "ask_user"), ("set", "next", "if")]


def test_a_wrong_edge_is_refused_while_it_is_dragged_with_the_reason(host: Crib, editor: Page) -> None:
    name = stored(host, mapped("refused"))
    opened(editor, host, name)
    expect(node(editor, "warn")).to_be_visible()

    source = node(editor, "warn").locator('[data-handleid="next"]')
    drag(editor, source, node(editor, "big"), drop=False)

    reason = editor.get_by_role("status").filter(
        has_text="Only the output “each time” of “For each bill” leads in."
    )
    expect(reason).to_be_visible()
    editor.mouse.up()
    expect(editor.get_by_role("button", name="Save")).to_be_disabled()
    drag(editor, node(editor, "send").locator('[data-handleid="next"]'), node(editor, "bills"))
    expect(editor.get_by_text("so this would never end")).to_be_visible()
    drag(editor, node(editor, "send").locator('[data-handleid="next"]'), node(editor, "warn"))
    expect(editor.get_by_role("button", name="Save")).to_be_enabled()


def test_an_edge_that_brings_a_value_of_the_wrong_type_is_refused_while_it_is_dragged(
    host: Crib, editor: Page
) -> None:
    workflow = chain("typed", 2)
    workflow["nodes"]["s0"]["settings"] = {"values": {"label": "a"}}
    workflow["nodes"]["press"] = {
        "type": "Click",
        "name": "Press it",
        "settings": {"x": "{{s0.label}}", "y": 1},
        "position": [400, 300],
    }
    values = {"values": {"text": "{{s0.label}}"}}
    workflow["nodes"]["fine"] = {"type": "Set", "settings": values, "position": [-300, 300]}
    name = stored(host, workflow)
    opened(editor, host, name)
    source = node(editor, "s1").locator('[data-handleid="next"]')

    drag(editor, source, node(editor, "press"), drop=False)

    reason = "“Press it”: x must be a number, but {{s0.label}} is a string."
    expect(editor.get_by_role("status").filter(has_text=reason)).to_be_visible()
    editor.mouse.up()
    expect(editor.get_by_role("status").filter(has_text=reason)).to_be_visible()
    expect(editor.get_by_role("button", name="Save")).to_be_disabled()
    drag(editor, source, node(editor, "fine"))
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Not saved")).to_have_count(0)
    assert saved(host, name) == [("s0", "next", "s1"), ("s1", "next", "fine")]


def test_everything_is_done_in_the_list_by_keyboard_alone(host: Crib, editor: Page) -> None:
    name = stored(host, chain("keyboard", 2))
    opened(editor, host, name)
    expect(node(editor, "s0")).to_be_visible()
    editor.keyboard.press("l")
    expect(row(editor, "s0")).to_be_visible()
    row(editor, "s0").focus()
    editor.keyboard.press("ArrowDown")
    expect(row(editor, "s1")).to_be_focused()

    editor.keyboard.press("n")
    editor.get_by_role("combobox", name="Find a step").press_sequentially("ask the")
    editor.keyboard.press("Enter")
    expect(row(editor, "ask_user")).to_be_visible()
    row(editor, "ask_user").focus()
    editor.keyboard.press("Enter")
    expect(panel(editor).get_by_role("tab", name="Setup")).to_be_visible()
    panel(editor).get_by_role("tab", name="Setup").press("Enter")
    panel(editor).get_by_role("textbox", name="Question").fill("Go on?")
    row(editor, "s0").focus()
    editor.keyboard.press("Delete")
    expect(row(editor, "s0")).to_have_count(0)
    editor.keyboard.press("Control+z")
    expect(row(editor, "s0")).to_be_visible()
    editor.keyboard.press("Control+s")

    expect(editor.get_by_text("Not saved")).to_have_count(0)
    assert saved(host, name) == [("s0", "next", "s1"), ("s1", "next", "ask_user")]


@pytest.mark.acceptance
def test_the_list_connects_outputs_and_says_why_not(host: Crib, editor: Page) -> None:
    name = stored(host, mapped("connected"))
    opened(editor, host, name)
    editor.keyboard.press("l")
    editor.get_by_role("button", name="Actions for Send").click()
    editor.get_by_role("menuitem", name="Connect…").click()
    dialog = editor.get_by_role("dialog", name="Connect “Send”")

    dialog.get_by_label("next", exact=True).select_option("big")
    expect(dialog.get_by_role("alert")).to_contain_text("is inside “For each bill”")
    dialog.get_by_label("on error").select_option("warn")
    dialog.get_by_role("button", name="Done").click()
    editor.get_by_role("button", name="Save").click()

    expect(editor.get_by_text("Not saved")).to_have_count(0)
    assert ("send", "error", "warn") in saved(host, name)


def test_settings_come_from_the_schema_and_take_references(host: Crib, editor: Page) -> None:
    name = stored(host, chain("settings", 2))
    opened(editor, host, name, "?step=s1")
    setup = panel(editor)
    expect(setup.get_by_role("heading", name="s1")).to_be_visible()
    setup.get_by_label("Value: n", exact=True).fill("")
    setup.get_by_role("button", name="Insert a value from an earlier step: Value: n").click()
    editor.get_by_role("button", name="n number").click()

    expect(setup.get_by_label("Value: n", exact=True)).to_have_value("{{s0.n}}")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Not saved")).to_have_count(0)
    kept = host.run("workflow_get", name=name)["workflow"]["nodes"]["s1"]["settings"]
    assert kept == {"values": {"n": "{{s0.n}}"}}


@pytest.mark.acceptance
def test_a_problem_leads_to_its_step(host: Crib, editor: Page) -> None:
    name = stored(host, chain("broken", 1))
    opened(editor, host, name)
    editor.get_by_role("complementary", name="Steps to add").get_by_role(
        "button", name="Ask the user"
    ).click()
    problems = editor.get_by_role("region", name="1 problem")
    expect(node(editor, "ask_user")).to_be_visible()
    expect(problems).to_have_count(0)
    editor.get_by_role("button", name="Save").click()
    expect(problems).to_contain_text("“Question” is required.")
    editor.locator(".react-flow__pane").click(position={"x": 20, "y": 20})
    expect(panel(editor).get_by_role("heading", name="broken")).to_be_visible()

    problems.get_by_role("button", name="Go there").click()

    expect(panel(editor).get_by_role("heading", name="Ask the user")).to_be_visible()


@pytest.mark.acceptance
def test_a_change_elsewhere_is_shown_before_it_is_overwritten(
    host: Crib, editor: Page, complaints: Complaints
) -> None:
    complaints.expect("400.*workflow_save")
    name = stored(host, chain("shared", 2))
    opened(editor, host, name)
    panel(editor).get_by_label("Description").fill("Mine")
    host.run("workflow_save", workflow={**chain(name, 2), "description": "Theirs"}, expected_version=None)

    strip = editor.get_by_role("alert").filter(has_text="was changed elsewhere")
    expect(strip).to_be_visible()
    strip.get_by_role("button", name="Show both").click()
    dialog = editor.get_by_role("dialog", name="This workflow was changed elsewhere")
    expect(dialog).to_contain_text("Theirs")
    expect(dialog).to_contain_text("Mine")
    dialog.get_by_role("button", name="Save mine").click()

    expect(dialog).to_have_count(0)
    assert host.run("workflow_get", name=name)["workflow"]["description"] == "Mine"


@pytest.mark.acceptance
def test_steps_are_copied_pasted_and_duplicated(host: Crib, editor: Page) -> None:
    name = stored(host, chain("copied", 1))
    opened(editor, host, name)
    node(editor, "s0").click()
    editor.keyboard.press("Control+c")
    editor.keyboard.press("Control+v")
    expect(editor.locator(".react-flow__node")).to_have_count(2)
    editor.keyboard.press("Control+d")
    expect(editor.locator(".react-flow__node")).to_have_count(3)
    editor.keyboard.press("Control+z")
    editor.keyboard.press("Control+z")
    expect(editor.locator(".react-flow__node")).to_have_count(1)


TWICE = """() => {
    const options = { key: "d", ctrlKey: true, bubbles: true, cancelable: true };
    const press = () => new KeyboardEvent("keydown", options);
    document.body.dispatchEvent(press());
    document.body.dispatchEvent(press());
}"""


def test_a_key_acts_on_what_the_key_before_it_did_even_if_that_is_not_drawn_yet(
    host: Crib, editor: Page
) -> None:
    name = stored(host, chain("twice", 1))
    opened(editor, host, name)
    node(editor, "s0").click()

    editor.evaluate(TWICE)

    expect(editor.locator(".react-flow__node")).to_have_count(3)


@pytest.mark.acceptance
def test_keys_pressed_faster_than_a_slow_machine_draws_all_count(host: Crib, editor: Page) -> None:
    slow = editor.context.new_cdp_session(editor)
    for turn in range(5):
        opened(editor, host, stored(host, chain(f"fast-{turn}", 1)))
        slow.send("Emulation.setCPUThrottlingRate", {"rate": 8})
        node(editor, "s0").click()
        for key in "cvddzvz":
            editor.keyboard.press(f"Control+{key}")
        expect(editor.locator(".react-flow__node")).to_have_count(3)
        editor.keyboard.press("Control+s")
        expect(editor.get_by_text("Not saved")).to_have_count(0)
        slow.send("Emulation.setCPUThrottlingRate", {"rate": 1})


@pytest.mark.acceptance
def test_saving_again_before_the_first_save_ended_is_no_conflict(host: Crib, editor: Page) -> None:
    name = stored(host, chain("hurried", 1))
    opened(editor, host, name)
    description = panel(editor).get_by_label("Description")
    for text in ("One", "Two", "Three"):
        description.fill(text)
        editor.keyboard.press("Control+s")
        editor.keyboard.press("Control+s")

    expect(editor.get_by_text("Not saved")).to_have_count(0)
    expect(editor.get_by_role("button", name="Save")).to_be_disabled()
    assert host.run("workflow_get", name=name)["workflow"]["description"] == "Three"
    expect(editor.get_by_role("alert").filter(has_text="was changed elsewhere")).to_have_count(0)


@pytest.mark.acceptance
def test_a_narrow_window_has_the_list_and_no_canvas(host: Crib, editor: Page) -> None:
    name = stored(host, mapped("narrow"))
    editor.set_viewport_size(NARROW)
    opened(editor, host, name)

    expect(row(editor, "bills")).to_be_visible()
    expect(editor.locator(".workflow-canvas")).to_have_count(0)
    row(editor, "large").click()
    expect(panel(editor).get_by_role("heading", name="Over 500?")).to_be_visible()
    editor.get_by_role("radio", name="Details").click()
    expect(row(editor, "bills")).to_have_count(0)


@pytest.mark.acceptance
def test_a_file_is_exported_imported_and_removed_with_undo(
    host: Crib, editor: Page, tmp_path: Path, complaints: Complaints
) -> None:
    complaints.expect("400.*workflow_import")
    name = stored(host, chain("moved", 2))
    editor.goto(f"{host.base}/workflows")
    line = editor.locator(f'[data-workflow="{name}"]')
    with editor.expect_download() as download:
        line.get_by_role("button", name=f"Actions for {name}").click()
        editor.get_by_role("menuitem", name="Export").click()
    file = tmp_path / "moved.json"
    download.value.save_as(file)

    with editor.expect_file_chooser() as chooser:
        editor.get_by_role("button", name="Import").click()
    chooser.value.set_files(file)
    editor.get_by_role("dialog", name="Import a file").get_by_role("button", name="Create").click()
    expect(editor.get_by_role("heading", name="moved-2", level=1)).to_be_visible()

    editor.goto(f"{host.base}/workflows")
    line.get_by_role("button", name=f"Actions for {name}").click()
    editor.get_by_role("menuitem", name="Remove").click()
    expect(line).to_have_count(0)
    editor.get_by_role("button", name="Undo").click()
    expect(line).to_be_visible()


@pytest.mark.parametrize("place", ["/workflows", "/workflows/shopping"])
def test_a_host_without_the_feature_says_so(
    host: Crib, new_page: Callable[[], Page], complaints: Complaints, place: str
) -> None:
    complaints.expect("404.*workflow")
    page = new_page()
    refusal = error_json(missing("workflows"))
    page.route("**/api/workflow_*", lambda route: route.fulfill(status=404, json=refusal))

    sign_in(page, host.sign_in_address(), place)

    expect(page.get_by_role("alert")).to_contain_text("The feature workflows is not installed.")
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def test_a_recording_is_opened_and_changed(host: Crib, editor: Page) -> None:
    args = {"text": "Dear Ada", "application": "${application}"}
    macro = {
        "display_name": "Write a note",
        "parameters": [{"key": "application", "default_value": "mousepad"}],
        "actions": [{"method_call": {"method": "type_text", "args": args}}, {"wait": {"duration": 0.5}}],
    }
    MacroStore.of_home(host.home).create(read_macro(macro), "note")
    host.run("workflow_import", text=export_workflow("note", host.home))
    opened(editor, host, "note")
    expect(editor.locator(".react-flow__node")).to_have_count(3)

    node(editor, "type_text_1").click()
    panel(editor).get_by_role("textbox", name="Text").fill("Dear Grace")
    editor.get_by_role("button", name="Save").click()
    expect(editor.get_by_text("Not saved")).to_have_count(0)
    stored_nodes = host.run("workflow_get", name="note")["workflow"]["nodes"]
    assert stored_nodes["type_text_1"]["settings"]["text"] == "Dear Grace"

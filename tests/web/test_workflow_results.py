"""What is seen of a workflow's steps: labels, the choice of a tool, results of a run, and how it starts."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, Complaints, sign_in
from tests.web.running import Crib
from tests.web.workflows import Json, chain, drag, node, opened, panel, row, started, stored

pytestmark = pytest.mark.acceptance


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
def page(host: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), host.sign_in_address(), "/workflows")


def deciding(name: str, text: str = "hello") -> Json:
    """A sum, a decision about it, a loop of three rounds, and a way that is not taken."""
    large = {"left": "{{add.data.result}}", "operator": "greater_than", "right": 10}
    enough = {"left": "{{loop.iteration}}", "operator": "greater_or_equal", "right": 3}
    add = {"tool": "demo__add", "arguments": {"a": 17, "b": 25}}
    return {
        "name": name,
        "nodes": {
            "add": {"type": "McpToolCall", "name": "Add", "settings": add},
            "if": {"type": "If", "name": "Large?", "settings": {"condition": large}},
            "loop": {"type": "Loop", "name": "Three times", "settings": {"exit_condition": enough}},
            "turn": {"type": "Set", "name": "Count", "settings": {"values": {"n": "{{loop.iteration}}"}}},
            "end": {"type": "EndLoop", "settings": {"loop": "loop"}},
            "small": {"type": "Set", "name": "Small", "settings": {"values": {"text": text}}},
            "last": {"type": "Set", "name": "Last", "settings": {"values": {"text": text}}},
        },
        "edges": [
            {"from": "add", "to": "if"},
            {"from": "if", "to": "loop", "output": "true"},
            {"from": "if", "to": "small", "output": "false"},
            {"from": "loop", "to": "turn", "output": "body"},
            {"from": "turn", "to": "end"},
            {"from": "loop", "to": "last", "output": "done"},
        ],
    }


def test_after_a_run_each_step_says_what_came_of_it_and_why(host: Crib, page: Page) -> None:
    untrusted = "<b>bold</b> " * 60
    opened(page, host, stored(host, deciding("results", untrusted)))

    started(page)

    expect(page.locator(".workflow-bar")).to_contain_text("Done")
    expect(node(page, "add").locator(".node-line")).to_have_text("42")
    expect(node(page, "if").locator(".node-line")).to_have_text("“yes”: 42 is greater than 10")
    expect(node(page, "loop")).to_contain_text("3 rounds")
    expect(node(page, "turn").locator(".node-line")).to_have_text("n = 3 · 3 visits")
    expect(node(page, "small").locator(".node-line")).to_have_text("Not reached")
    expect(node(page, "last").locator(".node-line")).to_contain_text("<b>bold</b> <b>bold</b>")
    assert node(page, "last").locator(".node-line b").count() == 0
    assert len(node(page, "last").locator(".node-line").inner_text()) <= 200
    node(page, "if").click()
    expect(panel(page)).to_contain_text("Took “yes”: 42 is greater than 10.")
    node(page, "small").click()
    expect(panel(page)).to_contain_text("Not reached in this run.")
    node(page, "loop").locator(".workflow-group-head").click()
    expect(panel(page)).to_contain_text("3 rounds.")
    expect(panel(page)).to_contain_text("The last time: Took “then”: 3 is at least 3 after round 3.")
    page.keyboard.press("l")
    expect(row(page, "if")).to_contain_text("Took “yes”: 42 is greater than 10.")
    expect(row(page, "loop")).to_contain_text("3 rounds")
    expect(row(page, "add")).to_contain_text("demo · add · 42")


def test_notes_of_a_step_are_sentences_with_their_json_behind_a_fold(host: Crib, page: Page) -> None:
    opened(page, host, stored(host, deciding("noted")))
    started(page)
    expect(page.locator(".workflow-bar")).to_contain_text("Done")

    node(page, "last").click()

    notes = panel(page).locator(".trace-notes")
    expect(notes).to_contain_text("Three times: Took “then”: 3 is at least 3 after round 3.")
    json = panel(page).locator("pre").filter(has_text='"kind": "route"')
    expect(json).to_be_hidden()
    panel(page).get_by_text("As JSON").click()
    expect(json).to_be_visible()


@pytest.mark.parametrize(("throttle", "turn"), [(1, 1), (8, 1), (8, 2)])
def test_run_without_inputs_starts_at_once_and_is_in_the_list_at_once(
    host: Crib, page: Page, throttle: int, turn: int
) -> None:
    name = f"quick-{throttle}-{turn}"
    opened(page, host, stored(host, chain(name, 2)))
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    held: list[str] = []
    page.route("**/api/workflow_run", lambda route: (held.append(route.request.url), route.continue_()))

    button = page.get_by_role("button", name="Run", exact=True)
    width = button.evaluate("button => button.offsetWidth")
    working = page.locator(".start-button[aria-busy=true]")
    button.click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    page.wait_for_url("**run=*")
    expect(working).to_have_count(0)
    assert len(held) == 1
    panel(page).get_by_role("tab", name="Runs").click()
    expect(panel(page).locator(".run-list > li")).to_have_count(1)
    assert page.locator(".start-button").evaluate("button => button.offsetWidth") == width


def test_the_run_button_works_until_the_host_answers_and_says_why_it_did_not_start(
    host: Crib, page: Page, complaints: Complaints
) -> None:
    complaints.expect("400.*workflow_run")
    opened(page, host, stored(host, {**chain("refused-run", 2), "edges": []}))
    waiting: list[Callable[[], None]] = []
    page.route("**/api/workflow_run", lambda route: waiting.append(route.continue_))
    with page.expect_request("**/api/workflow_run"):
        page.get_by_role("button", name="Run", exact=True).click()

    expect(page.get_by_role("button", name="Starting…")).to_be_disabled()
    waiting[0]()

    trouble = page.locator(".run-start").get_by_role("alert")
    expect(trouble).to_contain_text("Nothing leads to this step")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    assert host.run("workflow_runs", name="refused-run")["runs"] == []
    trouble.get_by_role("button", name="Close").click()
    expect(trouble).to_have_count(0)


def test_a_run_begins_even_if_the_page_is_closed_right_after_the_press(host: Crib, page: Page) -> None:
    name = stored(host, chain("closed", 1))
    opened(page, host, name)
    with page.expect_request("**/api/workflow_run"):
        page.get_by_role("button", name="Run", exact=True).click()

    page.close()

    with host.live() as news:
        if not host.run("workflow_runs", name=name)["runs"]:
            next(one for one in news if one["kind"] == "run")
    assert len(host.run("workflow_runs", name=name)["runs"]) == 1


def tool_field(page: Page) -> Locator:
    return panel(page).get_by_role("combobox", name="Tool")


def test_a_tool_is_found_by_what_is_typed_and_names_the_step(host: Crib, page: Page) -> None:
    name = stored(host, chain("chosen", 1))
    opened(page, host, name)
    page.get_by_role("complementary", name="Steps to add").get_by_role("button", name="Call a tool").click()
    expect(node(page, "tool_call")).to_contain_text("Call a tool")
    expect(panel(page).get_by_role("heading", name="Call a tool")).to_be_visible()

    tool_field(page).click()
    tool_field(page).press_sequentially("add")
    option = panel(page).get_by_role("option").first
    expect(option).to_contain_text("demo · add")
    expect(option).to_have_attribute("aria-selected", "true")
    assert look_over(page) == []
    page.keyboard.press("Enter")

    expect(tool_field(page)).to_have_value("demo · add")
    expect(tool_field(page)).to_be_focused()
    expect(node(page, "add")).to_contain_text("Add")
    panel(page).get_by_label("A required").fill("1")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Not saved")).to_have_count(0)
    kept = host.run("workflow_get", name=name)["workflow"]["nodes"]["add"]
    assert (kept["name"], kept["settings"]) == ("Add", {"tool": "demo__add", "arguments": {"a": 1}})


@pytest.mark.parametrize(("typed", "meant"), [("add", "demo · add"), ("demo__devide", "demo · divide")])
def test_an_unknown_tool_says_which_one_may_be_meant(host: Crib, page: Page, typed: str, meant: str) -> None:
    workflow = chain(f"meant-{len(typed)}", 1)
    workflow["nodes"]["s0"] = {"type": "McpToolCall", "settings": {"tool": typed}}
    page.set_viewport_size(NARROW)
    opened(page, host, stored(host, workflow))
    row(page, "s0").click()
    page.get_by_role("radio", name="Details").click()
    panel(page).get_by_role("tab", name="Setup").click()

    field = panel(page).locator(".tool-field")
    expect(field).to_contain_text(f"No tool is called “{typed}”.")
    expect(tool_field(page)).to_have_attribute("aria-invalid", "true")
    field.get_by_role("button", name=f"Did you mean {meant}?").click()

    expect(tool_field(page)).to_have_value(meant)
    expect(field).not_to_contain_text("No tool is called")
    tool_field(page).click()
    box, width = panel(page).get_by_role("listbox").bounding_box(), NARROW["width"]
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


def test_settings_have_labels_and_rare_ones_are_under_more_options(host: Crib, page: Page) -> None:
    workflow = deciding("labelled")
    workflow["nodes"]["ask"] = {"type": "AiStep", "name": "Ask", "settings": {"prompt": "Hi"}}
    workflow["edges"].append({"from": "last", "to": "ask"})
    opened(page, host, stored(host, workflow), "?step=ask")
    form = panel(page).locator(".settings-form")
    for label in ("Task", "Tools it may use", "At most"):
        expect(form.get_by_role("textbox", name=label)).to_be_visible()
    expect(form.get_by_role("textbox", name="Button or link")).to_be_hidden()
    form.get_by_text("More options").click()
    expect(form.get_by_role("textbox", name="Button or link")).to_be_visible()
    for key in ("max_tool_calls", "answer_schema", "button_text", "allowed_tools"):
        expect(panel(page)).not_to_contain_text(key)

    node(page, "loop").locator(".workflow-group-head").click()
    expect(panel(page).get_by_role("group", name="Stop when")).to_be_visible()
    limit = panel(page).get_by_role("combobox", name="If the limit is reached")
    limit.select_option("Continue after the loop")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Not saved")).to_have_count(0)
    kept = host.run("workflow_get", name="labelled")["workflow"]["nodes"]["loop"]["settings"]
    assert kept["at_limit"] == "continue"


@pytest.mark.parametrize("way", ["right click", "key"])
def test_the_canvas_has_the_menu_of_a_step(host: Crib, page: Page, way: str) -> None:
    name = f"menu-{way.replace(' ', '-')}"
    opened(page, host, stored(host, chain(name, 2)))
    node(page, "s1").click(button="left" if way == "key" else "right")
    if way == "key":
        page.keyboard.press(".")

    page.get_by_role("menuitem", name="Turn off").click()

    expect(node(page, "s1").locator(".turned-off")).to_be_visible()
    expect(page.get_by_role("menu")).to_have_count(0)


def test_new_steps_are_not_wrong_before_anything_was_filled_in(host: Crib, page: Page) -> None:
    opened(page, host, stored(host, chain("new-steps", 1)))
    palette = page.get_by_role("complementary", name="Steps to add")
    with page.expect_response("**/api/workflow_validate"):
        for kind in ("Call a tool", "If", "Loop", "AI step"):
            palette.get_by_role("button", name=kind, exact=True).click()
    expect(node(page, "ai_step")).to_be_visible()
    expect(page.locator(".workflow-problems")).to_have_count(0)

    page.get_by_role("button", name="Save").click()

    problems = page.get_by_role("region", name="4 problems")
    expect(problems).to_contain_text("Loop: “Stop when” is required.")
    expect(problems).not_to_contain_text("is not a Loop")


def test_an_edge_goes_around_the_steps_in_its_way(host: Crib, page: Page) -> None:
    workflow = deciding("around")
    workflow["nodes"] = {id_: one for id_, one in workflow["nodes"].items() if id_ != "small"}
    workflow["edges"] = [edge for edge in workflow["edges"] if edge["to"] != "small"]
    for place, step in enumerate(("add", "if", "loop", "turn", "end", "last")):
        workflow["nodes"][step]["position"] = [0, 130 * place]
    opened(page, host, stored(host, workflow))

    drag(page, node(page, "if").locator('[data-handleid="false"]'), node(page, "last"))

    label = page.locator(".edge-label", has_text="no")
    expect(label).to_be_visible()
    place, frame = label.bounding_box(), node(page, "loop").bounding_box()
    assert place is not None
    assert frame is not None
    middle = place["x"] + place["width"] / 2
    assert middle > frame["x"] + frame["width"] or middle < frame["x"]
    page.keyboard.press("l")
    expect(row(page, "if")).to_contain_text("no → Last")


def test_a_name_is_made_of_what_is_typed(host: Crib, page: Page) -> None:
    page.goto(f"{host.base}/workflows?new=blank")
    dialog = page.get_by_role("dialog", name="New workflow")
    dialog.get_by_label("Name").press_sequentially("My report")
    expect(dialog).to_contain_text("Saved as my-report.")

    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="my-report", level=1)).to_be_visible()

"""Runs of workflows in the page: start, follow, answer, pause, step, stop, inspect and compare."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import press, sign_in, until_at_rest
from tests.web.running import Crib
from tests.web.workflows import Json, asking, chain, mapped, node, opened, panel, row, started, stored


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
def runs(host: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), host.sign_in_address(), "/workflows")


def test_a_run_is_started_with_inputs_answered_in_the_panel_and_inspected(host: Crib, runs: Page) -> None:
    name = stored(host, asking("bill"))
    opened(runs, host, name)
    runs.get_by_role("button", name="Run", exact=True).click()
    dialog = runs.get_by_role("dialog", name="Run bill")
    dialog.get_by_label("amount").fill("99.5")
    dialog.get_by_role("button", name="Run", exact=True).click()

    question = panel(runs).get_by_role("article", name="Put 99.5 EUR in the ledger?")
    expect(question).to_contain_text("99.5")
    expect(runs.locator(".workflow-bar")).to_contain_text("Waits for you")
    expect(node(runs, "approve").locator(".workflow-node")).to_have_class("workflow-node asking")
    expect(node(runs, "note").locator(".workflow-node")).to_have_class("workflow-node not-reached")
    waiting = runs.get_by_role("region", name="Needs you").get_by_role("link")
    expect(waiting).to_contain_text("Put 99.5 EUR in the ledger?")
    press(question, "Approve")

    expect(runs.locator(".workflow-bar")).to_contain_text("Done")
    expect(waiting).to_have_count(0)
    expect(panel(runs)).to_contain_text('"said": "Approve"')
    node(runs, "note").click()
    expect(panel(runs)).to_contain_text("Returned")
    expect(panel(runs).locator(".trace-value").first).to_contain_text("Approve")


@pytest.mark.acceptance
def test_what_waits_leads_to_the_run_and_its_step(host: Crib, runs: Page) -> None:
    name = stored(host, asking("linked"))
    host.run("workflow_run", name=name, inputs={}, breakpoints=[], detach=True)
    link = runs.get_by_role("region", name="Needs you").get_by_role("link", name="Put 812.4 EUR")
    expect(link).to_contain_text("workflow linked")

    link.click()

    expect(panel(runs).get_by_role("heading", name="Approve this bill")).to_be_visible()
    question = panel(runs).get_by_role("article")
    press(question, "Reject")
    expect(runs.locator(".workflow-bar")).to_contain_text("Done")


def test_a_breakpoint_pauses_steps_go_one_by_one_and_a_run_is_stopped(host: Crib, runs: Page) -> None:
    name = stored(host, chain("stepped", 5))
    opened(runs, host, name)
    runs.keyboard.press("l")
    runs.get_by_role("button", name="Actions for s1").click()
    runs.get_by_role("menuitem", name="Pause before this step").click()
    started(runs)
    bar = runs.locator(".workflow-bar")
    expect(bar).to_contain_text("Paused")
    expect(row(runs, "s0")).to_contain_text("n = 0")
    expect(row(runs, "s1")).to_contain_text("Waits for you")

    bar.get_by_role("button", name="Step").click()
    expect(row(runs, "s1")).to_contain_text("n = 1")
    expect(bar).to_contain_text("Paused")
    expect(row(runs, "s3")).to_contain_text("Not reached")
    bar.get_by_role("button", name="Stop run").click()

    expect(bar).to_contain_text("Stopped")
    bar.get_by_role("link", name="Back to the editor").click()
    started(runs)
    expect(bar).to_contain_text("Paused")
    bar.get_by_role("button", name="Resume").click()
    expect(bar).to_contain_text("Done")


@pytest.mark.acceptance
def test_a_run_shows_the_edges_it_took_and_the_items_of_a_map(host: Crib, runs: Page) -> None:
    name = stored(host, mapped("taken"))
    opened(runs, host, name)
    started(runs)
    expect(runs.locator(".workflow-bar")).to_contain_text("Done")

    expect(node(runs, "big")).to_contain_text("item 1 · kind = large")
    expect(node(runs, "small")).to_contain_text("item 2 · kind = small")
    expect(node(runs, "warn").locator(".not-reached")).to_be_visible()
    expect(runs.locator(".workflow-edge.error-edge")).to_have_class(
        "react-flow__edge-path workflow-edge error-edge not-taken"
    )
    assert runs.locator(".workflow-edge.taken").count() == 7


def failing(name: str) -> Json:
    """A tool that fails, and a step on its error path."""
    tool = {"tool": "demo__divide", "arguments": {"a": 1, "b": 0}}
    return {
        "name": name,
        "nodes": {
            "divide": {"type": "McpToolCall", "name": "Divide", "settings": tool},
            "warn": {
                "type": "Set",
                "name": "Warn",
                "settings": {"values": {"why": "{{divide.error.message}}"}},
            },
        },
        "edges": [{"from": "divide", "to": "warn", "output": "error"}],
    }


@pytest.mark.acceptance
def test_a_failed_step_says_why_and_its_error_path_is_taken(host: Crib, runs: Page) -> None:
    name = stored(host, failing("failing"))
    opened(runs, host, name)
    started(runs)
    expect(runs.locator(".workflow-bar")).to_contain_text("Done")

    expect(node(runs, "divide").locator(".workflow-node")).to_have_class("workflow-node failed")
    expect(runs.locator(".workflow-edge.error-edge.taken")).to_have_count(1)
    node(runs, "divide").click()
    expect(panel(runs).locator(".error-box")).to_contain_text("zero")


@pytest.mark.acceptance
def test_two_runs_are_compared_step_by_step(host: Crib, runs: Page) -> None:
    workflow = asking("compared")
    del workflow["nodes"]["approve"], workflow["nodes"]["note"]
    name = stored(host, {**workflow, "edges": [], "outputs": {"t": "{{read.t}}"}})
    for amount in (1, 2):
        host.run("workflow_run", name=name, inputs={"amount": amount}, breakpoints=[], detach=False)
    opened(runs, host, name)
    panel(runs).get_by_role("tab", name="Runs").click()
    boxes = panel(runs).get_by_role("checkbox")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()

    panel(runs).get_by_role("button", name="Compare").click()

    dialog = runs.get_by_role("dialog", name="Compare two runs")
    expect(dialog).to_contain_text("Inputs that differ: amount")
    dialog.get_by_role("button", name="Differs: received values, returned value").click()
    expect(dialog.locator(".diff-added").first).to_be_visible()


@pytest.mark.acceptance
def test_a_call_that_needs_approval_is_approved_in_the_run(host: Crib, runs: Page) -> None:
    file = host.home / "files" / "ledger.csv"
    settings = {"tool": "filesystem__write_file", "arguments": {"path": str(file), "content": "812.40"}}
    name = stored(
        host,
        {
            "name": "writing",
            "nodes": {"write": {"type": "McpToolCall", "name": "Write", "settings": settings}},
        },
    )
    opened(runs, host, name)
    started(runs)

    question = panel(runs).get_by_role("article", name="Approval: Let filesystem write this file?")
    until_at_rest(question)
    assert not file.exists()
    question.get_by_role("button", name="Allow once").click()

    expect(runs.locator(".workflow-bar")).to_contain_text("Done")
    assert file.read_text() == "812.40"


@pytest.mark.acceptance
def test_a_workflow_begins_from_a_template(host: Crib, runs: Page) -> None:
    runs.goto(f"{host.base}/workflows?new=templates")
    dialog = runs.get_by_role("dialog", name="Start from a template")
    dialog.locator("li").filter(has_text="Add numbers").get_by_role(
        "button", name="Use this template"
    ).click()
    runs.get_by_role("dialog").get_by_label("Name").fill("sums")
    runs.get_by_role("button", name="Create").click()

    expect(runs.get_by_role("heading", name="sums", level=1)).to_be_visible()
    started(runs, asked=True)
    expect(panel(runs)).to_contain_text('"sum": 42')


@pytest.mark.acceptance
def test_a_schedule_is_set_and_shown_in_the_list(host: Crib, runs: Page) -> None:
    name = stored(host, chain("nightly", 1))
    opened(runs, host, name)
    runs.get_by_role("button", name="More").click()
    runs.get_by_role("menuitem", name="Triggers").click()
    dialog = runs.get_by_role("dialog", name="Triggers")
    dialog.get_by_label("When").fill("weekdays at 07:30")
    dialog.get_by_role("button", name="Save and turn on").click()

    expect(dialog.get_by_role("switch", checked=True)).to_be_visible()
    expect(dialog).to_contain_text("07:30")
    runs.goto(f"{host.base}/workflows")
    expect(runs.locator(f'[data-workflow="{name}"]')).to_contain_text("07:30")

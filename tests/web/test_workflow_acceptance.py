"""Workflows in the page with a killed host, a step that may have happened, many steps, and at every size."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, Complaints, press, sign_in
from tests.web.layout import faults_of_layout
from tests.web.running import Crib
from tests.web.workflows import asking, chain, drag, mapped, node, panel, row, started, stored

pytestmark = pytest.mark.acceptance

SIZES: tuple[ViewportSize, ...] = (
    {"width": 1440, "height": 900},
    {"width": 1024, "height": 768},
    {"width": 768, "height": 1024},
    NARROW,
)
GONE = r"ERR_(CONNECTION|SOCKET|EMPTY|INCOMPLETE|NETWORK)\w*|Failed to fetch"


def killed(crib: Crib) -> None:
    """End the host as a power cut does, and start it again at the same place."""
    port = crib.port
    crib.stop(signal.SIGKILL)
    crib.start(port=port)


def test_a_workflow_drawn_by_hand_survives_the_end_of_the_host(
    crib: Crib, new_page: Callable[[], Page], complaints: Complaints
) -> None:
    complaints.expect(GONE)
    page = sign_in(new_page(), crib.sign_in_address(), "/workflows?new=blank")
    page.get_by_label("Name").fill("by-hand")
    page.get_by_role("button", name="Create").click()
    palette = page.get_by_role("complementary", name="Steps to add")
    palette.get_by_role("button", name="Set values").click()
    panel(page).get_by_role("button", name="Add", exact=True).click()
    panel(page).get_by_label("Value: name", exact=True).fill("42")
    palette.get_by_role("button", name="Ask the user").drag_to(
        page.locator(".workflow-canvas"), target_position={"x": 160, "y": 520}
    )
    drag(page, node(page, "set").locator('[data-handleid="next"]'), node(page, "ask_user"))
    node(page, "ask_user").click()
    panel(page).get_by_role("textbox", name="Question").fill("Is {{set.name}} right?")
    started(page)
    expect(panel(page).get_by_role("article", name="Is 42 right?")).to_be_visible()

    killed(crib)

    question = panel(page).get_by_role("article", name="Is 42 right?")
    expect(page.get_by_text("Toolcrib is not responding")).to_have_count(0)
    press(question, "Approve")
    expect(page.locator(".workflow-bar")).to_contain_text("Done")
    node(page, "ask_user").click()
    expect(panel(page).locator(".trace-value").first).to_contain_text("Approve")
    node(page, "set").click()
    expect(panel(page)).to_contain_text("Returned")
    run = crib.run("workflow_show", run="last")
    assert [(step["step"], step["attempts"]) for step in run["steps"]] == [("set", 1), ("ask_user", 1)]


def test_a_step_that_may_have_happened_is_asked_about(
    crib: Crib, new_page: Callable[[], Page], complaints: Complaints
) -> None:
    complaints.expect(GONE)
    crib.server("box")
    crib.start()
    crib.run("policy_add", rule={"effect": "allow", "server": "box", "tool": "sleep"})
    sleep = {"tool": "box__sleep", "arguments": {"seconds": 300}}
    nodes = {"sleep": {"type": "McpToolCall", "name": "Send it", "settings": sleep}}
    name = stored(crib, {"name": "doubtful", "nodes": nodes})
    page = sign_in(new_page(), crib.sign_in_address(), f"/workflows/{name}")
    started(page)
    expect(node(page, "sleep").locator(".workflow-node.running")).to_be_visible()

    killed(crib)

    question = panel(page).get_by_role("article")
    expect(question).to_contain_text("may have happened")
    expect(question.get_by_role("button", name="Do it again")).to_be_visible()
    expect(question.get_by_role("button", name="Stop here")).to_be_visible()
    press(question, "It was done")
    expect(page.locator(".workflow-bar")).to_contain_text("Done")


def test_three_hundred_steps_are_drawn_listed_and_run(crib: Crib, new_page: Callable[[], Page]) -> None:
    crib.start()
    name = stored(crib, chain("long", 300))
    page = sign_in(new_page(), crib.sign_in_address(), f"/workflows/{name}")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    page.keyboard.press("l")
    expect(row(page, "s0")).to_be_visible()
    assert page.locator("[data-step]").count() < 100
    row(page, "s0").focus()
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    expect(row(page, "s40")).to_be_focused()

    started(page)

    expect(page.locator(".workflow-bar")).to_contain_text("Done", timeout=180_000)
    assert len(crib.run("workflow_show", run="last")["steps"]) == 300


def test_nothing_is_seriously_wrong_at_any_size(crib: Crib, new_page: Callable[[], Page]) -> None:
    crib.start()
    stored(crib, mapped("plain"))
    name = stored(crib, asking("asking"))
    broken = {**chain("broken", 2), "edges": []}
    stored(crib, broken)
    run = crib.run("workflow_run", name=name, inputs={}, breakpoints=[], detach=True)["run"]
    page = sign_in(new_page(), crib.sign_in_address(), "/workflows")

    faults = [*_looked_at(page, crib, run)]

    assert "\n".join(faults) == ""


def _looked_at(page: Page, crib: Crib, run: str) -> Iterator[str]:
    places = {
        "/workflows": "For each bill|asking",
        "/workflows/plain?step=large": "Over 500?",
        "/workflows/broken": "problem",
        f"/workflows/asking?run={run}&step=approve": "Put 812.4 EUR",
    }
    for place, text in places.items():
        for size in SIZES:
            page.set_viewport_size(size)
            page.goto(f"{crib.base}{place}")
            expect(page.locator("#main")).to_contain_text(text.split("|")[-1])
            page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            yield from (f"{place} at {size['width']}: {fault}" for fault in faults_of_layout(page))
            if size in (SIZES[0], NARROW):
                yield from (f"{place} at {size['width']}: {fault}" for fault in look_over(page))

"""What the page keeps of a workflow: pictures in the trace, versions, runs that begin again, webhooks."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.adding import SMALL_SERVER
from tests.web.browsing import sign_in
from tests.web.running import DEADLINE, Crib
from tests.web.workflows import chain, node, opened, panel, started, stored

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def host() -> Iterator[Crib]:
    """One host for all tests of this module; each uses workflows of its own."""
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    found = Crib(home).setting(approvals={"mode": "off"})
    found.entry("small", {"command": sys.executable, "args": [str(SMALL_SERVER)]})
    try:
        yield found.start()
        assert found.stop() == ""
    finally:
        found.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def page(host: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), host.sign_in_address(), "/workflows")


def test_a_picture_of_a_step_is_in_its_trace_and_opens_at_full_size(host: Crib, page: Page) -> None:
    workflow = chain("pictured", 1)
    workflow["nodes"]["look"] = {"type": "McpToolCall", "settings": {"tool": "small__picture"}}
    workflow["edges"] = [{"from": "s0", "to": "look"}]
    opened(page, host, stored(host, workflow))
    started(page)
    expect(page.locator(".workflow-bar")).to_contain_text("Done")

    node(page, "look").click()

    picture = panel(page).locator(".trace-picture img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    panel(page).locator(".trace-picture").click()
    expect(page.get_by_role("dialog").locator("img.full-picture")).to_be_attached()


def test_an_earlier_version_is_restored_and_saved(host: Crib, page: Page) -> None:
    name = stored(host, {**chain("restored", 1), "description": "First"})
    host.run("workflow_save", workflow={**chain(name, 2), "description": "Second"}, expected_version=None)
    opened(page, host, name)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Versions").click()
    dialog = page.get_by_role("dialog", name="Versions")
    dialog.get_by_role("button", name="Show changes").last.click()
    dialog.get_by_role("button", name="Restore").click()

    expect(dialog).to_have_count(0)
    expect(page.locator(".react-flow__node")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(page.locator(".react-flow__node")).to_have_count(2)
    page.keyboard.press("Control+Shift+z")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Not saved")).to_have_count(0)
    assert host.run("workflow_get", name=name)["workflow"]["description"] == "First"


def test_a_run_begins_again_from_a_step_without_repeating_those_before_it(host: Crib, page: Page) -> None:
    name = stored(host, chain("again", 3))
    opened(page, host, name)
    first = started(page)
    expect(page.locator(".workflow-bar")).to_contain_text("Done")
    node(page, "s1").click()
    panel(page).get_by_role("tab", name="Runs").click()

    panel(page).get_by_role("button", name="Run again from “s1”").click()

    page.wait_for_url(lambda address: "run=" in address and first not in address)
    expect(page.locator(".workflow-bar")).to_contain_text("Done")
    second = page.url.partition("run=")[2].partition("&")[0]
    before, after = (
        {step["node"]: step["started"] for step in host.run("workflow_show", run=run)["steps"]}
        for run in (first, second)
    )
    assert before["s0"] == after["s0"], "taken over from the first run"
    assert before["s1"] != after["s1"]


def test_a_webhook_is_turned_on_shows_its_address_once_and_is_turned_off(host: Crib, page: Page) -> None:
    workflow = {**chain("hooked", 1), "triggers": [{"type": "webhook"}]}
    name = stored(host, workflow)
    opened(page, host, name)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Triggers").click()
    dialog = page.get_by_role("dialog", name="Triggers")
    switch = dialog.get_by_role("switch")
    expect(switch).not_to_be_checked()

    switch.click()

    expect(switch).to_be_checked()
    address = dialog.locator("code").inner_text()
    assert httpx2.post(address, json={}, timeout=DEADLINE).status_code == 202
    switch.click()
    expect(switch).not_to_be_checked()
    expect(dialog.locator("code")).to_have_count(0)
    assert httpx2.post(address, json={}, timeout=DEADLINE).status_code == 404

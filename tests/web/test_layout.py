"""Long names in a table of tools, and the wheel at the end of a list; `test_sweep.py` looks at every page."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.browsing import DEADLINE_MS, Complaints, browsing, sign_in
from tests.web.layout import faults_of_layout, settle
from tests.web.running import Crib
from tests.web.screenshots.chart import draw_chart
from tests.web.screenshots.person import Person
from tests.web.screenshots.story import Shown, story
from tests.web.test_sweep import SIZES

pytestmark = pytest.mark.acceptance

ANSWERING = Path(__file__).parent / "programs" / "answering_server.py"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One that shows its scrollbars."""
    with browsing(scrollbars=True) as found:
        yield found


@pytest.fixture(scope="module")
def shown(browser: Browser) -> Iterator[Shown]:
    """A crib with servers in every state and a chat that asks."""
    room = Path(tempfile.mkdtemp(prefix="tc-"))
    try:
        person = Person(room / "ada")
        draw_chart(browser, person.picture)
        home = room / "crib"
        home.mkdir()
        with story(Crib(home), person) as told:
            yield told.shown
    finally:
        shutil.rmtree(room, ignore_errors=True)


@pytest.fixture
def wide_page(browser: Browser, shown: Shown) -> Iterator[Page]:
    context = browser.new_context(viewport=SIZES[0], reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    yield sign_in(context.new_page(), shown.crib.sign_in_address())
    context.close()


def test_the_switches_of_a_server_s_tools_stay_in_their_table(
    browser: Browser, crib: Crib, complaints: Complaints
) -> None:
    tools = [
        {
            "name": f"{name}-with-{'a-rather-' * length}long-name",
            "description": "Demonstrates how annotations can be used to say more about content. " * 3,
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
        }
        for length, name in enumerate(("get", "set", "trigger", "simulate", "toggle"))
    ]
    crib.entry("wordy", {"command": sys.executable, "args": [str(ANSWERING), json.dumps({"tools": tools})]})
    context = browser.new_context(viewport=SIZES[0], reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    page = context.new_page()
    complaints.watch(page)
    sign_in(page, crib.sign_in_address(), "/servers/wordy")
    expect(page.get_by_role("switch", name="Offered: get-with-long-name")).to_be_visible()

    faults = [*_at_every_size(page, "wordy")]
    context.close()

    assert "\n".join(faults) == ""


def test_the_wheel_at_the_end_of_a_list_leaves_the_app_in_its_place(wide_page: Page, shown: Shown) -> None:
    page = wide_page
    for path in ("/tools", "/servers", "/activity", f"/chat/{shown.chat}", "/servers/git"):
        page.goto(f"{shown.crib.base}{path}")
        expect(page.get_by_role("main")).to_contain_text("git")
        page.mouse.move(640, 360)
        for _ in range(5):
            page.mouse.wheel(0, 5000)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

        top = page.evaluate("document.querySelector('.rail').getBoundingClientRect().top")
        assert (path, page.evaluate("scrollY"), top) == (path, 0, 0)


def _at_every_size(page: Page, name: str) -> Iterator[str]:
    for size in SIZES:
        page.set_viewport_size(size)
        settle(page)
        for fault in faults_of_layout(page):
            yield f"{name} at {size['width']}: {fault}"

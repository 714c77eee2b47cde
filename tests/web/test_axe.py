"""Axe finds nothing serious: every page and every dialog, wide and narrow, light and dark."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.web.axe import look_over
from tests.web.browsing import DEADLINE_MS, NARROW, WIDE, sign_in
from tests.web.running import Crib
from tests.web.screenshots.chart import draw_chart
from tests.web.screenshots.person import Person
from tests.web.screenshots.story import Shown, story
from tests.web.screenshots.views import VIEWS

pytestmark = pytest.mark.acceptance

FURTHER = {
    "/activity?tab=rules": "allow git.git_log",
    "/activity?tab=waiting": "Let filesystem",
    "/activity?tab=requests": "Rename the config keys",
    "/servers/git?tab=tools": "git_branch_rename",
    "/servers/git?tab=log": "git is ready",
    "/servers/git?tab=versions": "Versions",
    "/servers/git?tab=settings": "Settings",
    "/servers/git?tab=json": "mcp_server_git",
    "/settings?account=add": "Accounts",
    "/welcome": "Welcome to Toolcrib",
    "/chat": "Nightly export fails",
    "/nowhere": "Page not found",
}
"""Places beyond those in the pictures, and what stands there."""


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


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_nothing_serious_is_found(browser: Browser, shown: Shown, size: ViewportSize) -> None:
    context = browser.new_context(viewport=size, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    page = sign_in(context.new_page(), shown.crib.sign_in_address())
    found = [*_views(page, shown), *_further(page, shown), *_keys(page, shown)]
    context.close()

    assert found == []


def _views(page: Page, shown: Shown) -> Iterator[str]:
    for view in VIEWS:
        if not view.tall:
            page.goto(f"{shown.crib.base}{view.path(shown)}")
            view.ready(page)
            yield from _faults(page, view.name)


def _further(page: Page, shown: Shown) -> Iterator[str]:
    for path, text in FURTHER.items():
        page.goto(f"{shown.crib.base}{path}")
        expect(page.locator("#root")).to_contain_text(text, timeout=DEADLINE_MS)
        yield from _faults(page, path)


def _keys(page: Page, shown: Shown) -> Iterator[str]:
    page.goto(f"{shown.crib.base}/servers")
    expect(page.locator('[data-server="git"]')).to_be_visible()
    page.locator("body").press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    yield from _faults(page, "keys")


def _faults(page: Page, where: str) -> Iterator[str]:
    for fault in look_over(page):
        yield f"{where}: {fault}"

"""Every page and the dialogs in the pictures, in every size: nothing overflows, overlaps or is cut without
its whole text, axe finds nothing, each Tab stop shows the focus, and nothing moves if that is asked for."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.web.axe import look_over
from tests.web.browsing import DEADLINE_MS, NARROW, browsing, sign_in
from tests.web.layout import faults_of_details, faults_of_layout, settle
from tests.web.running import Crib
from tests.web.screenshots.chart import draw_chart
from tests.web.screenshots.person import Person
from tests.web.screenshots.story import Shown, story
from tests.web.screenshots.views import VIEWS
from tests.web.tab_stops import faults_of_focus

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(900)]

USUAL: ViewportSize = {"width": 1280, "height": 720}
SIZES: tuple[ViewportSize, ...] = (
    USUAL,
    {"width": 1920, "height": 1080},
    {"width": 1440, "height": 900},
    {"width": 1455, "height": 900},
    {"width": 1366, "height": 768},
    {"width": 1093, "height": 614},  # 1366 × 768 at 125 %
    {"width": 1024, "height": 768},
    NARROW,
)
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


def _shows(text: str) -> Callable[[Page], None]:
    return lambda page: expect(page.locator("#root")).to_contain_text(text, timeout=DEADLINE_MS)


def _keys(page: Page) -> None:
    _shows("git")(page)
    page.locator("body").press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


PLACES: dict[str, tuple[Callable[[Shown], str], Callable[[Page], None]]] = {
    **{view.name: (view.path, view.ready) for view in VIEWS if not view.tall},
    **{path: (lambda _, path=path: path, _shows(text)) for path, text in FURTHER.items()},  # type: ignore[misc]
    "keys": (lambda _: "/servers", _keys),
}


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


@pytest.fixture(scope="module")
def page(browser: Browser, shown: Shown) -> Iterator[Page]:
    context = browser.new_context(viewport=USUAL, reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    yield sign_in(context.new_page(), shown.crib.sign_in_address())
    context.close()


@pytest.mark.parametrize("name", PLACES)
def test_a_page_is_whole_in_every_size(page: Page, shown: Shown, name: str) -> None:
    path, ready = PLACES[name]
    page.set_viewport_size(USUAL)
    page.emulate_media(color_scheme="light")
    page.goto(f"{shown.crib.base}{path(shown)}")
    ready(page)

    faults = [*_at_every_size(page), *(f"focus: {fault}" for fault in faults_of_focus(page))]

    assert "\n".join(faults) == ""


def _at_every_size(page: Page) -> Iterator[str]:
    for size in SIZES:
        page.set_viewport_size(size)
        settle(page)
        found = [*faults_of_layout(page), *faults_of_details(page)]
        if size in (USUAL, NARROW):
            found += look_over(page)
        yield from (f"{size['width']}: {fault}" for fault in found)
    page.set_viewport_size(USUAL)
    settle(page)

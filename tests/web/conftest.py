"""A running host with its page, and a browser that is signed in to it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from playwright.sync_api import Error as BrowserError

from tests.web.browsing import DEADLINE_MS, WIDE, Complaints, browsing, keep_picture, sign_in
from tests.web.running import Crib
from tests.web.vendor import Vendor, vendor

expect.set_options(timeout=DEADLINE_MS)

_OUTCOME = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Remember how the test itself went, for whoever cleans up after it."""
    report = yield
    if call.when == "call":
        item.stash[_OUTCOME] = report
    return report


@pytest.fixture
def crib() -> Iterator[Crib]:
    """A host on a home of its own, which runs once it is used; it must end in order and without complaint."""
    home = Path(tempfile.mkdtemp(prefix="tc-"))
    found = Crib(home)
    try:
        yield found
        assert found.stop() == ""
    finally:
        found.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of a module."""
    with browsing() as found:
        yield found


@pytest.fixture
def complaints() -> Complaints:
    """What the browser complains of; the test fails unless it was expected."""
    return Complaints()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A profile of its own for each test; `page` and further pages share its storage."""
    found = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    found.set_default_timeout(DEADLINE_MS)
    found.grant_permissions(["clipboard-read", "clipboard-write"])
    yield found
    found.close()


@pytest.fixture
def new_page(
    context: BrowserContext, complaints: Complaints, request: pytest.FixtureRequest
) -> Iterator[Callable[[], Page]]:
    """Makes empty pages that are watched."""
    pages: list[Page] = []

    def make() -> Page:
        page = context.new_page()
        complaints.watch(page)
        pages.append(page)
        return page

    yield make
    report = request.node.stash.get(_OUTCOME, None)
    if (report is not None and report.failed) or complaints.unexpected:
        _keep_pictures(pages, request.node.name, complaints)
    assert not complaints.unexpected


@pytest.fixture
def page(crib: Crib, new_page: Callable[[], Page]) -> Page:
    """A page of the host, signed in. Write the config in a fixture of your own that comes before, or ask for
    `crib` and `new_page` and call `sign_in(new_page(), crib.sign_in_address())` when it stands."""
    return sign_in(new_page(), crib.sign_in_address())


def _keep_pictures(pages: list[Page], name: str, complaints: Complaints) -> None:
    for number, page in enumerate(pages):
        try:
            print("seen last:", keep_picture(page, f"{name}-{number}", complaints))
        except BrowserError as error:
            print("no picture:", error)


@pytest.fixture
def model(crib: Crib) -> Iterator[Vendor]:
    """A scripted vendor that the host asks; beside the demo there is a server that sleeps and echoes."""
    with vendor() as found:
        crib.server("box")
        crib.setting(agent=found.settings)
        yield found
        crib.stop()

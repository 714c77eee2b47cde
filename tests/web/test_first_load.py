"""What the first visit to a page costs: bytes on the wire, round trips in a row, and no operation twice.

How many seconds that takes on a slow line is measured by `python -m benchmarks.first_load`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page

from tests.web.browsing import DEADLINE_MS, WIDE, sign_in
from tests.web.running import Crib
from tests.web.traffic import Traffic
from tests.web.waiting import until
from tests.web.workflows import mapped

pytestmark = pytest.mark.acceptance

LATENCY_MS = 150
"""Enough to tell what follows an answer from what merely begins late."""


@dataclass(frozen=True)
class First:
    """A page, what shows that it is usable, and the most that may be loaded until then."""

    path: str
    usable: str
    kilobytes: int
    round_trips: int


PAGES = (
    First("/welcome", "button:has-text('Skip for now')", 150, 4),
    First("/chat", "textarea", 160, 3),
    First("/chat/new", "textarea", 160, 3),
    First("/workflows", "a:has-text('bills')", 165, 3),
    First("/workflows/bills", ".react-flow__node", 262, 4),
    First("/servers", "[data-server=demo]", 192, 3),
    First("/servers/demo", "h1:has-text('demo')", 220, 4),
    First("/tools", "[data-tool], [role=listbox], #main li", 210, 6),
    First("/activity", "h1:has-text('Activity')", 190, 4),
    First("/connect", "h2:has-text('Profiles'), :text('Profiles')", 152, 5),
    First("/settings", ":text('Approvals')", 175, 4),
)


@pytest.fixture(scope="module")
def crib(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crib]:
    found = Crib(tmp_path_factory.mktemp("tc"))
    found.setting(agent={"model": "demo"})
    found.start()
    found.run("servers", wait=30)
    found.run("workflow_save", workflow=mapped("bills"), expected_version=None)
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, crib: Crib) -> Iterator[Page]:
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    context.set_default_timeout(DEADLINE_MS)
    page = sign_in(context.new_page(), crib.sign_in_address(), "/nowhere")
    yield page
    context.close()


@pytest.mark.parametrize("first", PAGES, ids=lambda first: first.path)
def test_the_first_visit_is_small_and_asks_for_nothing_twice(
    signed_in: Page, crib: Crib, first: First
) -> None:
    signed_in.goto("about:blank")
    traffic = Traffic(signed_in)
    traffic.slow_down(LATENCY_MS)
    signed_in.goto(f"{crib.base}{first.path}", wait_until="commit")
    signed_in.locator(first.usable).first.wait_for()  # unlike `expect`, at once when it is there

    usable, chain = traffic.bytes, traffic.longest_chain()
    until(lambda: traffic.is_quiet)
    traffic.close()

    assert usable <= first.kilobytes * 1_000, usable
    assert len(chain) <= first.round_trips, chain
    assert [one for one, times in Counter(traffic.operations).items() if times > 1] == []

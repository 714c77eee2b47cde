"""What the first visit to a page costs: bytes on the wire, round trips in a row, and no operation twice.

How many seconds that takes on a slow line is measured by `python -m benchmarks.first_load`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page

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
    usable: tuple[str, str]
    """A selector, and a text in the element."""
    kilobytes: int
    round_trips: int

    def found_in(self, page: Page) -> Locator:
        css, text = self.usable
        return page.locator(css).filter(has_text=text).first


PAGES = (
    First("/welcome", ("button", "Skip for now"), 150, 4),
    First("/chat", ("textarea", ""), 160, 3),
    First("/chat/new", ("textarea", ""), 160, 3),
    First("/workflows", ("a", "bills"), 165, 3),
    First("/workflows/bills", (".react-flow__node", ""), 262, 4),
    First("/servers", ("[data-server=demo]", ""), 192, 3),
    First("/servers/demo", ("h1", "demo"), 220, 4),
    First("/tools", ("[data-tool], [role=listbox], #main li", ""), 210, 6),
    First("/activity", ("h1", "Activity"), 190, 4),
    First("/connect", ("#main *", "Profiles"), 152, 5),
    First("/settings", ("#main *", "Approvals"), 175, 4),
)


WATCH = """(selectors) => {
  window.usableAt = {};
  new MutationObserver(() => {
    for (const [css, text] of selectors) {
      if (usableAt[css + text]) continue;
      const found = [...document.querySelectorAll(css)];
      if (found.some((one) => one.textContent.includes(text))) usableAt[css + text] = Date.now() / 1000;
    }
  }).observe(document, { childList: true, subtree: true, characterData: true });
}"""
"""Notes when each page became usable: a busy machine tells us late."""


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
    page.add_init_script(f"({WATCH})({json.dumps([first.usable for first in PAGES])})")
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
    signed_in.wait_for_function("name => window.usableAt?.[name]", arg="".join(first.usable))
    usable = signed_in.evaluate("name => window.usableAt[name]", "".join(first.usable))
    until(lambda: traffic.is_quiet)
    traffic.close()
    loaded, chain = traffic.bytes(usable), traffic.longest_chain(usable)

    assert loaded <= first.kilobytes * 1_000, loaded
    assert len(chain) <= first.round_trips, chain
    assert [one for one, times in Counter(traffic.operations).items() if times > 1] == []

"""A large crib stays light in the browser: only what is in view is drawn, and nobody asks without a reason.

How long anything takes is measured by `make soak`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from tests.web.browsing import sign_in
from tests.web.large import SERVERS, TOOLS, fill
from tests.web.running import Crib
from tests.web.tour import walk

MOST_NODES = 2_500
"""Elements of a page at any time; a list that is drawn whole has ten times as many."""
IDLE_MS = 10_000
FEW_REQUESTS = 3


@pytest.mark.acceptance
def test_of_much_only_what_is_in_view_is_drawn_and_an_idle_page_asks_for_nothing(
    crib: Crib, new_page: Callable[[], Page]
) -> None:
    chat = fill(crib)
    page = sign_in(new_page(), crib.sign_in_address())
    heavy = {}

    for step in walk(page, crib.base, chat):
        nodes = page.evaluate("document.querySelectorAll('*').length")
        if nodes > MOST_NODES:
            heavy[step] = nodes

    counts = crib.run("host_info")["counts"]
    assert counts["servers"] == SERVERS
    assert counts["tools"] >= TOOLS
    assert heavy == {}
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.wait_for_timeout(IDLE_MS)
    assert len(asked) <= FEW_REQUESTS, asked

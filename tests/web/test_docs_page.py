"""The documentation in a browser: search from the keyboard, narrow windows, both themes, copying commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, sign_in
from tests.web.running import Crib

pytestmark = pytest.mark.acceptance

NewPage = Callable[[], Page]


def test_the_search_finds_a_section_without_a_mouse(crib: Crib, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{crib.base}/docs/")

    page.locator("body").press("/")
    field = page.get_by_role("combobox", name="Search the documentation")
    expect(field).to_be_focused()
    field.press_sequentially("approve mode")
    found = page.get_by_role("option")
    expect(found.first).to_be_visible()
    wanted = [text.splitlines()[0] for text in found.all_inner_texts()].index("Approvals › Modes")
    for _ in range(wanted + 1):
        field.press("ArrowDown")
    expect(found.nth(wanted)).to_have_attribute("aria-selected", "true")
    field.press("Enter")

    expect(page).to_have_url(f"{crib.base}/docs/approvals.html#modes")
    expect(page.get_by_role("listbox")).to_be_hidden()


def test_a_search_that_finds_nothing_says_so_and_escape_closes_it(crib: Crib, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{crib.base}/docs/models.html")

    field = page.get_by_role("combobox", name="Search the documentation")
    field.fill("xylophone")
    expect(page.get_by_text("No results.")).to_be_visible()
    field.press("Escape")

    expect(page.get_by_text("No results.")).to_be_hidden()


def test_pages_fit_a_narrow_window_and_have_no_grave_fault(crib: Crib, new_page: NewPage) -> None:
    page = new_page()
    faults = []
    for name in ("", "first-steps.html", "approvals.html", "json-output.html"):
        page.set_viewport_size(NARROW)
        page.goto(f"{crib.base}/docs/{name}")
        assert page.evaluate("document.scrollingElement.scrollWidth") == NARROW["width"]
        page.get_by_role("link", name="All pages").click()
        expect(page.get_by_role("navigation").get_by_role("link", name="First steps")).to_be_in_viewport()
        faults += look_over(page)

    assert "\n".join(faults) == ""


def test_copying_a_session_takes_its_commands_without_prompts_and_output(
    crib: Crib, new_page: NewPage
) -> None:
    page = new_page()
    page.goto(f"{crib.base}/docs/gateway.html")

    first = page.locator(".copied").first
    first.hover()
    first.get_by_role("button", name="Copy").click()
    expect(first.get_by_role("button", name="Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines()[1] == "toolcrib serve --port 8080 --json"
    assert "http://" not in copied


def test_an_empty_list_leads_to_its_page(crib: Crib, new_page: NewPage) -> None:
    page = sign_in(new_page(), crib.empty().sign_in_address(), "/servers")

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Learn more").click()

    expect(opened.value.get_by_role("heading", name="Installing servers", level=1)).to_be_visible()
    assert opened.value.url == f"{crib.base}/docs/install.html"

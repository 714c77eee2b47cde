"""A press does what its button said when it was pressed, and once: Stop never starts anything."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.web.browsing import sign_in
from tests.web.chatting import ask, card, choose_mode
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor, call

NewPage = Callable[[], Page]


@pytest.fixture
def box(crib: Crib) -> Crib:
    """With a server that sleeps for as long as it is told to."""
    return crib.server("box").setting(approvals={"mode": "off"})


def enter_sleep(box: Crib, page: Page, seconds: str = "600") -> Locator:
    """The panel in which `sleep` is tried."""
    sign_in(page, box.sign_in_address(), "/tools?tool=box__sleep")
    panel = page.get_by_role("complementary", name="Try it: box__sleep")
    panel.get_by_label("seconds").fill(seconds)
    return panel


def tries_of(page: Page) -> list[Request]:
    """The requests to run a tool that this page makes from now on."""
    found: list[Request] = []
    page.on("request", lambda one: found.append(one) if one.url.endswith("/api/try_tool") else None)
    return found


@pytest.mark.acceptance
def test_stop_ends_the_try_and_starts_no_other(box: Crib, new_page: NewPage) -> None:
    page = new_page()
    panel = enter_sleep(box, page)
    tries = tries_of(page)
    panel.get_by_role("button", name="Run tool").click()
    expect(panel.get_by_role("status").filter(has_text="Running")).to_be_visible()

    panel.get_by_role("button", name="Stop").click()

    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Stopped")
    expect(panel.get_by_role("button", name="Run tool")).to_be_focused()
    assert len(tries) == 1
    assert [one["outcome"] for one in box.run("calls", words="tool:box__sleep")["calls"]] == ["cancelled"]


def test_a_double_click_on_run_starts_the_tool_once_and_does_not_stop_it(
    box: Crib, new_page: NewPage
) -> None:
    page = new_page()
    panel = enter_sleep(box, page, "0.5")
    tries = tries_of(page)

    panel.get_by_role("button", name="Run tool").dblclick()

    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Done")
    assert len(tries) == 1


@pytest.mark.acceptance
def test_a_double_click_on_stop_starts_nothing(box: Crib, new_page: NewPage) -> None:
    page = new_page()
    panel = enter_sleep(box, page)
    tries = tries_of(page)
    panel.get_by_role("button", name="Run tool").click()
    expect(panel.get_by_role("status").filter(has_text="Running")).to_be_visible()

    panel.get_by_role("button", name="Stop").dblclick()

    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Stopped")
    assert len(tries) == 1


def test_enter_in_a_field_runs_the_tool(box: Crib, new_page: NewPage) -> None:
    page = new_page()
    panel = enter_sleep(box, page, "0")
    panel.get_by_label("seconds").press("Enter")

    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Done")


@pytest.mark.acceptance
def test_a_double_click_on_the_stop_of_a_card_does_not_run_it_again(
    model: Vendor, crib: Crib, new_page: NewPage
) -> None:
    model.say(call(("box__sleep", {"seconds": 600})), Say("It was stopped."))
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    choose_mode(page, "Never ask")
    ask(page, "Sleep")

    card(page, "sleep").get_by_role("button", name="Stop sleep").dblclick()

    expect(page.get_by_role("log").get_by_text("It was stopped.")).to_be_visible()
    assert len(crib.run("calls", words="tool:box__sleep")["calls"]) == 1


def test_a_form_that_is_sent_with_a_double_click_is_sent_once(crib: Crib, new_page: NewPage) -> None:
    page = sign_in(new_page(), crib.sign_in_address(), "/activity?tab=rules")
    added: list[Request] = []
    page.on("request", lambda one: added.append(one) if one.url.endswith("/api/policy_add") else None)
    page.get_by_role("button", name="Add rule").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").dblclick()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(added) == 1

"""Servers that come with Toolcrib: listed first, added with one click."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import cast

import pytest
from playwright.sync_api import Page, expect

from tests.bundled.discord.server import TOKEN, Discord
from tests.bundled.loopback import served
from tests.web.adding import PASTE, PATIENCE, asks_for_trust, enter_servers, row, shows
from tests.web.running import Crib

NewPage = Callable[[], Page]


@pytest.fixture
def discord() -> Iterator[Discord]:
    with served(Discord()) as service:
        yield cast("Discord", service)


def begin(crib: Crib, new_page: NewPage) -> Page:
    del crib.document["mcpServers"]["demo"]
    page = enter_servers(asks_for_trust(crib), new_page())
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_label(PASTE)).to_be_focused()
    return page


def test_an_included_server_is_added_with_one_click(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    page.get_by_role("list", name="Included with Toolcrib").get_by_role("button", name="Demo").click()
    expect(page.get_by_role("dialog", name="demo works, 4 tools")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Done").click()

    shows(page, "demo", "Running")
    entry = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]["demo"]
    assert entry == {"type": "inprocess", "module": "toolcrib.bundled.demo"}
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_role("list", name="Included with Toolcrib")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("button", name="Demo")).to_be_hidden()


@pytest.mark.acceptance
def test_the_catalog_lists_included_servers_first_and_says_what_they_need(
    crib: Crib, new_page: NewPage
) -> None:
    page = begin(crib, new_page)

    page.get_by_role("button", name="Browse catalog").click()
    listed = page.get_by_role("list", name="Catalog servers").get_by_role("listitem")
    expect(listed.first).to_contain_text("Included")
    expect(listed.filter(has_text="toolcrib add mail")).to_contain_text("Needs an account")
    demo = listed.filter(has_text="toolcrib add demo")
    expect(demo).not_to_contain_text("Needs an account")
    demo.get_by_role("button").click()
    expect(page.get_by_role("dialog", name="demo works, 4 tools")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Done").click()
    expect(row(page, "demo")).to_be_visible()


@pytest.mark.acceptance
def test_a_server_that_needs_an_account_leads_to_its_form(
    crib: Crib, new_page: NewPage, discord: Discord
) -> None:
    page = begin(crib, new_page)

    page.get_by_role("list", name="Included with Toolcrib").get_by_role("button", name="Discord").click()
    form = page.get_by_role("dialog", name="Add Discord")
    form.get_by_label("Bot token").fill(TOKEN)
    form.get_by_label("API address").fill(discord.api)
    form.get_by_label("API address").press("Enter")
    expect(page.get_by_role("dialog", name="discord works")).to_contain_text("helper (bot)")
    page.get_by_role("button", name="Done").click()

    shows(page, "discord", "Running")
    assert [account["servers"] for account in crib.run("account_list")] == [["discord"]]


def test_what_is_turned_on_in_the_settings_is_not_offered(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)

    included = page.get_by_role("list", name="Included with Toolcrib")
    expect(included.get_by_role("button", name="Mail")).to_be_visible()
    expect(included.get_by_role("button", name="Terminal")).to_have_count(0)


@pytest.mark.acceptance
def test_without_an_account_nothing_is_left_behind(crib: Crib, new_page: NewPage) -> None:
    page = begin(crib, new_page)
    before = (crib.home / "mcp.json").read_text()

    page.get_by_role("list", name="Included with Toolcrib").get_by_role("button", name="Mail").click()
    page.get_by_role("dialog", name="Add an account").get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert (crib.home / "mcp.json").read_text() == before
    assert "mail" not in {server["name"] for server in crib.run("servers")}


@pytest.mark.acceptance
def test_without_a_display_only_one_of_its_own_is_offered(crib: Crib, new_page: NewPage) -> None:
    crib.environment["DISPLAY"] = ""
    page = begin(crib, new_page)

    page.get_by_role("list", name="Included with Toolcrib").get_by_role("button", name="Desktop").click()
    dialog = page.get_by_role("dialog", name="Where may Desktop work?")
    expect(dialog.get_by_role("radio", name="My screen")).to_be_disabled()
    expect(dialog).to_contain_text("There is no display")
    expect(dialog.get_by_role("radio", name="A display of its own")).to_be_checked()
    dialog.get_by_role("button", name="Add and test").click()
    expect(page.get_by_role("dialog", name="desktop works")).to_be_visible(timeout=PATIENCE)

    entry = json.loads((crib.home / "mcp.json").read_text())["mcpServers"]["desktop"]
    assert entry["args"] == ["--headless", "1280x800"]


@pytest.mark.acceptance
def test_a_server_without_its_display_or_account_has_one_way_out(crib: Crib, new_page: NewPage) -> None:
    crib.environment["DISPLAY"] = ""
    for name in ("mail", "desktop"):
        crib.entry(name, {"type": "inprocess", "module": f"toolcrib.bundled.{name}"})
    page = enter_servers(crib, new_page())

    shows(page, "mail", "Needs an account")
    shows(page, "desktop", "Needs a display")
    needs = page.get_by_role("complementary").or_(page.locator("#root"))
    expect(needs.get_by_text("mail needs an account").first).to_be_visible()
    row(page, "mail").get_by_role("button", name="Add account…").click()
    expect(
        page.get_by_role("dialog", name="Add an account").get_by_role("button", name="IMAP")
    ).to_be_visible()
    page.keyboard.press("Escape")
    row(page, "desktop").get_by_role("button", name="Choose display…").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    shows(page, "desktop", "Running")

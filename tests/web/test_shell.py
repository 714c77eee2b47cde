"""The shell in a real browser: keys and the palette, a host that is gone and comes back, and several tabs."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Request, Route, ViewportSize, expect

from tests.web.browsing import NARROW, WIDE, Complaints, sign_in
from tests.web.chatting import FIELD
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor
from tests.web.waiting import until

NewPage = Callable[[], Page]
BROKEN_OFF = r"ERR_|Failed to load resource|network"


def open_servers(crib: Crib, page: Page) -> Page:
    """The list, once it stands."""
    page.goto(f"{crib.base}/servers")
    return listed(page)


def enter_servers(crib: Crib, page: Page) -> Page:
    """The same, on a page that is signed in with it."""
    return listed(sign_in(page, crib.sign_in_address(), "/servers"))


def listed(page: Page) -> Page:
    expect(page.locator('[data-server="demo"]')).to_contain_text("Running")
    return page


def streams_of(page: Page) -> list[Request]:
    """The requests for the live stream that this page makes from now on."""
    found: list[Request] = []
    page.on("request", lambda one: found.append(one) if one.url.endswith("/api/live") else None)
    return found


def test_the_palette_finds_a_server_and_opens_it_without_a_mouse(crib: Crib, new_page: NewPage) -> None:
    crib.server("postgres")
    page = enter_servers(crib, new_page())

    page.locator("body").press("Control+k")
    field = page.get_by_role("combobox", name="Search or run a command")
    expect(field).to_be_focused()
    field.press_sequentially("postg")
    expect(page.get_by_role("option", name=re.compile("^postgres server"))).to_be_visible()
    expect(page.get_by_role("option", name="Turn off postgres")).to_be_visible()
    field.press("Enter")

    expect(page).to_have_url(f"{crib.base}/servers/postgres")
    expect(page.get_by_role("heading", name="postgres", exact=True)).to_be_visible()


def find(page: Page, text: str) -> Locator:
    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill(text)
    return page.get_by_role("option", selected=True)


def test_enter_opens_the_named_thing_before_its_answer_came_and_never_restarts_it(
    crib: Crib, new_page: NewPage
) -> None:
    page = enter_servers(crib, new_page())
    held: list[Route] = []
    page.route("**/api/workflow_list", lambda route: held.append(route))
    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill("demo")
    page.get_by_role("combobox").press("Enter")
    expect(page.get_by_role("combobox")).to_be_visible()
    assert page.url == f"{crib.base}/servers"
    held[0].continue_()

    expect(page).to_have_url(f"{crib.base}/servers/demo")
    [demo] = [server for server in crib.run("servers") if server["name"] == "demo"]
    assert (demo["state"], demo["restarts"]) == ("ready", 0)


def test_the_palette_finds_chats_settings_and_what_was_open_and_forgives_a_letter(
    crib: Crib, model: Vendor, new_page: NewPage
) -> None:
    model.say(Say("The disk was full on Tuesday."))
    page = enter_servers(crib, new_page())
    chat = crib.run("chat_send", text="Why did it fail?")["chat"]
    until(lambda: crib.run("chat_view", chat=chat)["chat"]["state"] == "done")
    crib.run("chat_rename", chat=chat, title="Nightly export")

    expect(find(page, "nigthly")).to_contain_text("Nightly export")
    page.get_by_role("combobox").fill("disk was full")
    expect(page.get_by_role("option", name="Nightly export")).to_contain_text("disk")
    page.get_by_role("option", name="Nightly export").click()
    expect(page).to_have_url(re.compile(rf"/chat/{chat}\?at=\d+&find=disk%20was%20full$"))
    expect(page).to_have_title("Nightly export · Toolcrib")
    expect(page.locator("[data-page-said]")).to_have_text("Nightly export")

    expect(find(page, "keep call history")).to_contain_text("setting")
    page.get_by_role("combobox").press("Enter")
    expect(page.get_by_label("Keep call history")).to_be_focused()
    expect(page).to_have_title("Settings · Toolcrib")

    page.locator("h1").click()
    page.locator("body").press("Control+k")
    recent = page.get_by_role("group", name="Recent").get_by_role("option")
    expect(recent).to_have_text([re.compile("Nightly export")])


def test_the_palette_does_what_it_says_and_asks_what_it_does_not_know(crib: Crib, new_page: NewPage) -> None:
    page = enter_servers(crib, new_page())

    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill("turn off demo")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Turn off demo")
    page.get_by_role("combobox").press("Enter")
    expect(page.locator('[data-server="demo"]')).to_contain_text("Off")

    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill("how far is the moon")
    expect(page.get_by_role("option")).to_have_text(re.compile("Ask in a new chat: “how far is the moon”"))
    page.get_by_role("combobox").press("Escape")
    expect(page.get_by_role("combobox")).to_have_count(0)


def test_the_palette_opens_what_would_be_asked_about_and_shows_more_of_one_entry(
    crib: Crib, new_page: NewPage
) -> None:
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    crib.server("stranger")
    page = enter_servers(crib, new_page())

    page.locator("body").press("Control+k")
    field = page.get_by_role("combobox", name="Search or run a command")
    field.fill("stranger")
    expect(page.get_by_role("option", name=re.compile("Restart stranger"))).to_have_count(0)
    expect(page.get_by_role("option", selected=True)).to_contain_text("server")
    field.fill("demo")
    expect(page.get_by_role("option", selected=True)).to_contain_text("server")
    field.press("ArrowRight")
    expect(page.get_by_role("option", name="Open the log of demo")).to_be_visible()
    field.press("ArrowLeft")
    field.fill("stranger")
    while "Trust stranger?" not in page.get_by_role("option", selected=True).inner_text():
        field.press("ArrowDown")
    field.press("Enter")
    expect(page.get_by_role("alertdialog")).to_contain_text("toolcrib.testing.server")


def test_a_server_that_changes_is_told_to_a_reader_on_every_page(crib: Crib, new_page: NewPage) -> None:
    page = enter_servers(crib, new_page())
    page.locator("body").press("g")
    page.locator("body").press("e")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()

    crib.run("disable", name="demo")

    expect(page.locator("[data-said]")).to_have_text("demo: Off")


def test_what_the_status_line_said_stands_in_activity(crib: Crib, new_page: NewPage) -> None:
    page = enter_servers(crib, new_page())
    page.locator("body").press("Control+k")
    page.get_by_role("combobox").fill("turn off demo")
    expect(page.get_by_role("option", selected=True)).to_contain_text("Turn off demo")
    page.get_by_role("combobox").press("Enter")
    notice = page.get_by_role("status").filter(has_text="Turned off “demo”.")
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator('[data-server="demo"]')).to_contain_text("Running")

    page.get_by_role("link", name="Activity").first.click()
    page.get_by_role("tab", name="Waiting").click()

    expect(page.get_by_role("region", name="Recent notices")).to_contain_text("Turned off “demo”.")


def test_keys_go_to_pages_to_the_search_and_to_what_waits(crib: Crib, new_page: NewPage) -> None:
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    crib.server("stranger")
    page = enter_servers(crib, new_page())
    body = page.locator("body")

    body.press("g")
    body.press("t")
    expect(page).to_have_url(re.compile("/tools$"))
    question = page.get_by_label("Search tools or enter a question")
    expect(question).to_be_focused()
    question.blur()
    for key, path in (("a", "/activity"), ("n", "/connect"), ("e", "/settings")):
        body.press("g")
        body.press(key)
        expect(page).to_have_url(re.compile(f"{path}$"))
    body.press("g")
    body.press("s")
    expect(page.locator('[data-server="stranger"]')).to_contain_text("Needs trust")
    body.press("/")
    search = page.get_by_label("Filter servers")
    expect(search).to_be_focused()
    search.press_sequentially("g?!")
    expect(search).to_have_value("g?!")
    search.fill("")
    search.blur()
    body.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text(
        "Go to the oldest item that needs you"
    )
    body.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    body.press("!")
    expect(page.get_by_role("alertdialog")).to_contain_text("toolcrib.testing.server")


def test_keys_of_one_letter_can_be_turned_off(crib: Crib, page: Page) -> None:
    page.goto(f"{crib.base}/settings")
    page.get_by_role("switch", name="Single-key shortcuts").click()
    open_servers(crib, page)

    page.locator("body").press("?")
    page.locator("body").press("Control+k")

    expect(page.get_by_role("combobox", name="Search or run a command")).to_be_visible()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_strip_of_a_host_that_is_gone_pushes_nothing_out_of_the_window(
    crib: Crib, new_page: NewPage, complaints: Complaints, size: ViewportSize
) -> None:
    complaints.expect(BROKEN_OFF)
    page = new_page()
    page.set_viewport_size(size)
    sign_in(page, crib.sign_in_address(), "/chat/new")
    expect(page.get_by_label(FIELD)).to_be_visible()

    crib.stop(signal.SIGKILL)
    expect(page.get_by_role("alert").filter(has_text="Toolcrib is not responding")).to_be_visible()

    window = page.evaluate("innerHeight")
    below = page.locator("footer.status-line, nav.bottom-tabs").evaluate_all(
        "(bars) => Math.min(...bars.map((bar) => bar.getBoundingClientRect()).filter((one) => one.height > 0)"
        ".map((one) => one.top))"
    )
    composer = page.locator(".composer").bounding_box()
    assert composer is not None
    assert composer["y"] + composer["height"] <= below < window
    assert page.evaluate("document.scrollingElement.scrollHeight") <= window
    page.get_by_role("button", name="Try now").click()


def test_a_host_that_is_killed_is_told_of_and_found_again(
    crib: Crib, new_page: NewPage, complaints: Complaints
) -> None:
    complaints.expect(BROKEN_OFF)
    page = enter_servers(crib, new_page())
    port = crib.port

    crib.stop(signal.SIGKILL)
    strip = page.get_by_role("alert")
    expect(strip).to_contain_text(
        re.compile(
            r"Toolcrib is not responding\. Retrying in \d+ s\. The page shows the state at \d\d:\d\d\. "
            r"Restart it with toolcrib up; nothing on this page is lost\."
        )
    )
    expect(page.locator('[data-server="demo"]')).to_contain_text("Running")
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_role("status").first).to_have_text(re.compile("so nothing was changed"))
    expect(page.get_by_role("dialog")).to_have_count(0)

    crib.server("newcomer").write()
    crib.start(port=port)
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("footer")).to_contain_text(re.compile(r"Reconnected\. \d+ changes?\."))
    expect(strip).to_have_count(0)
    page.get_by_role("button", name="Add server").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_page_whose_key_was_revoked_says_how_to_get_another(
    crib: Crib, new_page: NewPage, complaints: Complaints
) -> None:
    complaints.expect(r"401|ERR_INCOMPLETE")
    page = enter_servers(crib, new_page())
    other = sign_in(new_page(), crib.sign_in_address(), "/servers")

    for one in crib.run("pages"):
        if "python" not in one["name"]:
            crib.run("page_revoke", id=one["id"])

    for tab in (page, other):
        expect(tab.get_by_role("main")).to_contain_text(
            "This browser is signed out. Open the page again with toolcrib open."
        )
    sign_in(new_page(), crib.sign_in_address())
    expect(page.get_by_role("navigation", name="Main").first).to_be_visible()


def test_two_tabs_share_one_stream_and_the_second_takes_over_without_a_gap(
    crib: Crib, new_page: NewPage
) -> None:
    first, second = new_page(), new_page()
    led, followed = streams_of(first), streams_of(second)
    sign_in(first, crib.sign_in_address())
    open_servers(crib, first)
    open_servers(crib, second)

    crib.run("disable", name="demo")
    for tab in (first, second):
        expect(tab.locator('[data-server="demo"]')).to_contain_text("Off")
    assert (len(led) > 0, len(followed)) == (True, 0)

    with second.expect_request(lambda one: one.url.endswith("/api/live")) as taken_over:
        first.close()
        crib.run("enable", name="demo")
    assert taken_over.value.headers.get("last-event-id")
    expect(second.locator('[data-server="demo"]')).to_contain_text("Running")


def test_a_tab_that_heard_nothing_yet_goes_on_where_the_first_one_was(crib: Crib, new_page: NewPage) -> None:
    first, second = new_page(), new_page()
    sign_in(first, crib.sign_in_address())
    open_servers(crib, first)
    open_servers(crib, second)

    with second.expect_request(lambda one: one.url.endswith("/api/live")) as taken_over:
        first.close()

    assert taken_over.value.headers.get("last-event-id")


def test_an_address_that_leads_nowhere_says_so_and_a_broken_page_breaks_nothing_else(
    crib: Crib, page: Page
) -> None:
    page.goto(f"{crib.base}/nowhere")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.get_by_role("link", name="Servers", exact=False).first.click()
    expect(page.locator('[data-server="demo"]')).to_be_visible()


def test_the_skip_link_leads_to_the_page_and_the_title_counts_what_waits(
    crib: Crib, new_page: NewPage
) -> None:
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    crib.server("stranger")
    page = enter_servers(crib, new_page())

    expect(page).to_have_title("(1) Servers · Toolcrib")
    page.locator("body").press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()

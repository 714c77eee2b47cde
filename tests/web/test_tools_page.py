"""The Tools page: what a model would be offered and why, a try through the gate, switches, settings."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import NARROW, Complaints, press, sign_in, until_at_rest
from tests.web.running import Crib

ASKING_SERVER = Path(__file__).parents[1] / "agent" / "programs" / "asking_server.py"
ANSWERING = Path(__file__).parent / "programs" / "answering_server.py"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


@pytest.fixture
def tools(crib: Crib) -> Crib:
    """The demo server and the files, and only a few tools offered at once."""
    crib.setting(retrieval={"k": 2, "alwaysOn": ["filesystem__list_directory"]}, agent={"offerAll": 0})
    return crib


@pytest.fixture
def tools_page(tools: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), tools.sign_in_address(), "/tools")


def test_a_question_shows_the_ranking_with_its_reasons_and_the_line(tools_page: Page) -> None:
    page = tools_page
    page.get_by_label("Search tools or enter a question").fill("add two numbers together")

    first = page.locator("[data-tool]").first
    expect(first).to_contain_text("demo · add")
    expect(first).to_contain_text("add, two, numbers")
    expect(first.locator(".tool-score")).to_contain_text(r".")
    expect(page.get_by_text("Top 2 offered, plus 14 always on")).to_be_visible()
    expect(page.locator("[data-tool=filesystem__list_directory]")).to_contain_text("Always on")
    expect(page.get_by_text("9 more ready tools")).to_be_visible()
    expect(page.locator("[data-tool]")).to_have_count(16)
    page.wait_for_url("**/tools?q=add+two+numbers+together")

    page.get_by_role("button", name="Show", exact=True).click()

    expect(page.locator("[data-tool=demo__divide]")).to_be_visible()
    assert page.locator("[data-tool]").count() > 16


def test_a_name_that_nothing_has_leads_to_the_one_that_was_meant(tools_page: Page) -> None:
    page = tools_page
    page.get_by_role("radio", name="By name").click()
    page.get_by_label("Search tools or enter a question").fill("flie")
    expect(page.get_by_text("No tools match “flie”.")).to_be_visible()

    page.get_by_role("button", name="file").click()

    expect(page.locator("[data-tool=filesystem__read_file]")).to_be_visible()
    expect(page.locator("[data-tool=demo__add]")).to_have_count(0)


def test_a_tool_is_tried_with_a_form_made_from_its_schema(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    page.locator("[data-tool=demo__add] [data-row]").click()
    panel = page.get_by_role("complementary", name="Try it: demo__add")
    expect(panel.get_by_text("Runs without approval", exact=True)).to_be_visible()

    panel.get_by_label("a number, required").fill("two")
    panel.get_by_label("b number, required").focus()
    expect(panel.get_by_role("alert")).to_have_text("Enter a number, such as 3.5.")

    panel.get_by_label("a number, required").fill("2")
    panel.get_by_label("b number, required").fill("40")
    expect(panel.get_by_role("alert")).to_have_count(0)
    panel.get_by_role("button", name="Run tool").click()

    result = panel.get_by_role("region", name="Last result")
    expect(result).to_contain_text("Done")
    expect(result).to_contain_text("42")
    call = tools.run("calls", words="tool:demo__add")["calls"][0]
    assert (call["who"]["kind"], call["outcome"], call["arguments"]) == ("page", "ok", '{"a":2,"b":40}')

    panel.get_by_role("button", name="Copy as command").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == """toolcrib call demo__add --args '{"a":2,"b":40}'"""


def test_what_was_tried_last_is_there_again_after_a_reload(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    page.goto(f"{tools.base}/tools?tool=demo__add")
    panel = page.get_by_role("complementary", name="Try it: demo__add")
    panel.get_by_label("a number, required").fill("2")
    panel.get_by_label("b number, required").fill("40")
    panel.get_by_role("button", name="Run tool").click()
    result = panel.get_by_role("region", name="Last result")
    expect(result).to_contain_text("42")

    page.reload()

    expect(result).to_contain_text("42")
    expect(panel.get_by_label("a number, required")).to_have_value("2")
    expect(panel.get_by_label("b number, required")).to_have_value("40")
    page.evaluate("sessionStorage.clear()")
    page.reload()
    expect(result).to_contain_text("Done")
    expect(result).to_contain_text("kept only while this tab is open")


def test_the_panel_closes_and_opens_by_a_key(tools_page: Page) -> None:
    page = tools_page
    panel = page.get_by_role("complementary", name="Try it")
    expect(panel).to_be_visible()
    row = page.locator("[data-row]").first
    row.focus()
    page.keyboard.press("]")
    expect(panel).to_have_count(0)
    page.keyboard.press("]")
    expect(panel).to_be_visible()
    row.focus()
    page.keyboard.press(".")
    expect(page.get_by_role("menuitem", name="Copy name")).to_be_visible()


def test_a_call_that_the_gate_asks_about_is_allowed_in_its_place(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    file = tools.home / "files" / "note.txt"
    page.goto(f"{tools.base}/tools?tool=filesystem__write_file")
    panel = page.get_by_role("complementary", name="Try it: filesystem__write_file")
    panel.get_by_label("path text, required").fill(str(file))
    panel.get_by_label("content text, required").fill("hello")
    expect(panel.get_by_text("You'll be asked first")).to_be_visible()
    panel.get_by_role("button", name="Run tool").click()

    question = panel.get_by_role("article")
    expect(question).to_contain_text("Let filesystem write this file?")
    assert not file.exists()
    press(question, "Allow once")

    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Done")
    assert file.read_text() == "hello"
    [call] = tools.run("calls", words="outcome:asked")["calls"]
    assert call["gate"]["allowed"] is True


def test_a_call_that_is_denied_in_its_place_reaches_no_server(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    file = tools.home / "files" / "note.txt"
    page.goto(f"{tools.base}/tools?tool=filesystem__write_file")
    panel = page.get_by_role("complementary", name="Try it: filesystem__write_file")
    panel.get_by_label("path text, required").fill(str(file))
    panel.get_by_label("content text, required").fill("hello")
    panel.get_by_role("button", name="Run tool").click()
    question = panel.get_by_role("article")
    press(question, "Deny")
    question.get_by_label("Note for the model").fill("not now")
    question.get_by_role("button", name="Deny and notify the model").click()

    result = panel.get_by_role("region", name="Last result")
    expect(result).to_contain_text("Denied")
    expect(result).to_contain_text("not now")
    assert not file.exists()


def test_what_a_server_asks_during_a_try_is_answered_in_its_place(
    tools: Crib, new_page: Callable[[], Page]
) -> None:
    tools.entry("asking", {"command": sys.executable, "args": [str(ASKING_SERVER)]})
    page = sign_in(new_page(), tools.sign_in_address(), "/tools?tool=asking__interview")
    panel = page.get_by_role("complementary", name="Try it: asking__interview")
    panel.get_by_role("button", name="Run tool").click()
    question = panel.get_by_role("article")
    press(question, "Allow once")

    asked = panel.get_by_role("article", name="Question: asking asks for input")
    expect(asked).to_contain_text("Your name?")
    until_at_rest(asked)
    asked.get_by_label("name").fill("Ada")
    asked.get_by_role("button", name="Send").click()

    result = panel.get_by_role("region", name="Last result")
    expect(result).to_contain_text("Done")
    expect(result).to_contain_text("Ada")


def test_a_result_with_texts_and_pictures_is_shown_in_its_order(
    tools: Crib, new_page: Callable[[], Page]
) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": PICTURE}
    parts = [{"type": "text", "text": "before"}, picture, {"type": "text", "text": "after"}]
    given = {"tools": [{"name": "draw"}], "answers": {"draw": {"content": parts}}}
    tools.entry("artist", {"command": sys.executable, "args": [str(ANSWERING), json.dumps(given)]})
    tools.setting(approvals={"mode": "off"})
    page = sign_in(new_page(), tools.sign_in_address(), "/tools?tool=artist__draw")
    panel = page.get_by_role("complementary", name="Try it: artist__draw")
    panel.get_by_role("button", name="Run tool").click()
    result = panel.get_by_role("region", name="Last result")
    expect(result).to_contain_text("after")

    shown = result.locator("pre, img").evaluate_all(
        "(all) => all.map((one) => one.textContent || one.tagName)"
    )
    assert shown == ["before", "IMG", "after"]


def test_the_time_of_a_try_leaves_out_how_long_its_question_waited(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    page.goto(f"{tools.base}/tools?tool=filesystem__write_file")
    panel = page.get_by_role("complementary", name="Try it: filesystem__write_file")
    panel.get_by_label("path text, required").fill(str(tools.home / "files" / "note.txt"))
    panel.get_by_label("content text, required").fill("hello")
    began = time.monotonic()
    panel.get_by_role("button", name="Run tool").click()
    question = panel.get_by_role("article")
    press(question, "Allow once")
    expect(panel.get_by_role("region", name="Last result")).to_contain_text("Done")
    whole = (time.monotonic() - began) * 1000

    [call] = tools.run("calls", words="tool:filesystem__write_file")["calls"]
    assert call["gate"]["waited_ms"] >= 500  # The question hears nothing for half a second.
    assert call["ms"] + call["gate"]["waited_ms"] <= whole


def test_a_tool_is_switched_off_and_on_again_without_a_restart(tools: Crib, tools_page: Page) -> None:
    page = tools_page
    page.locator("[data-tool=demo__add] [data-row]").click()
    page.get_by_role("button", name="More").last.click()
    page.get_by_role("menuitem", name="Turn off").click()

    expect(page.locator("[data-tool=demo__add]")).to_contain_text("turned off, not offered")
    assert [tool["enabled"] for tool in tools.run("tools", server="demo", disabled=True)] == [
        False,
        *[True] * 3,
    ]

    page.get_by_role("button", name="Undo").click()

    expect(page.locator("[data-tool=demo__add]")).not_to_contain_text("turned off")
    assert [tool["enabled"] for tool in tools.run("tools", server="demo", disabled=True)] == [True] * 4
    assert next(one for one in tools.run("servers") if one["name"] == "demo")["restarts"] == 0


def test_how_many_tools_are_offered_is_saved_at_once(
    tools: Crib, tools_page: Page, complaints: Complaints
) -> None:
    page = tools_page
    complaints.expect("400.*settings_set")
    page.get_by_label("Search tools or enter a question").fill("read a file")
    page.get_by_role("button", name="Settings").click()
    field = page.get_by_label("Tools per question")
    field.fill("90")
    page.get_by_role("dialog").get_by_label("Always on").focus()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("a whole number between 1 and 50")

    field.fill("4")
    field.press("Enter")

    expect(page.get_by_text("Top 4 offered")).to_be_visible()
    assert tools.run("settings_show")["settings"]["retrieval"]["k"] == 4


def test_in_a_narrow_window_a_tool_is_a_page_of_its_own(tools_page: Page) -> None:
    page = tools_page
    page.set_viewport_size(NARROW)
    page.get_by_label("Search tools or enter a question").fill("add two numbers")
    ranking = page.get_by_role("list", name="Ranking for this question")
    ranking.locator("[data-tool=demo__add] [data-row]").click()
    expect(page.get_by_role("button", name="Run tool")).to_be_visible()
    expect(page.locator("[data-tool]")).to_have_count(0)

    page.get_by_role("link", name="Back").click()

    expect(page.locator("[data-tool=demo__add]")).to_be_visible()
    expect(page.get_by_label("Search tools or enter a question")).to_have_value("add two numbers")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

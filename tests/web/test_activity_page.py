"""The Activity page: every call with its path, filters, rules, and what waits for a person."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import NARROW, Complaints, press, sign_in
from tests.web.chatting import ask
from tests.web.running import DEADLINE, Crib
from tests.web.vendor import Say, Vendor, call


@pytest.fixture
def activity(crib: Crib, new_page: Callable[[], Page]) -> Page:
    return sign_in(new_page(), crib.sign_in_address(), "/activity")


def called(crib: Crib, *words: str) -> None:
    """A call from a terminal."""
    crib.command("call", *words)


@contextmanager
def trying(crib: Crib, tool: str, **arguments: object) -> Iterator[list[tuple[str, object]]]:
    """A call from another page, which waits for somebody to say yes."""
    told: list[tuple[str, object]] = []
    asked = threading.Event()

    def follow() -> None:
        with crib.stream("try_tool", tool=tool, arguments=arguments) as events:
            for name, data in events:
                told.append((name, data))
                asked.set()

    thread = threading.Thread(target=follow)
    thread.start()
    assert asked.wait(DEADLINE)
    yield told
    thread.join(DEADLINE)
    assert not thread.is_alive()


def test_a_call_whose_turn_has_not_come_is_shown_as_waiting(
    model: Vendor, crib: Crib, new_page: Callable[[], Page]
) -> None:
    model.say(call(("box__pid", {}), ("box__cancelled", {})), Say("Done."))
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    ask(page, "Both, please")
    expect(page.locator("article.question-card")).to_be_visible()

    page.get_by_role("navigation", name="Main").first.get_by_role("link", name="Activity").click()

    rows = page.locator("tr[data-running]")
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="Asking")).to_contain_text("waiting for you")
    waiting = rows.filter(has_text="not decided yet")
    expect(waiting).to_contain_text("Waiting")
    expect(waiting.locator("td").last).to_have_text("–")
    expect(rows.filter(has_text="no rule needed")).to_have_count(0)


def test_a_call_stands_there_at_once_with_its_path(crib: Crib, activity: Page) -> None:
    called(crib, "demo__add", "a=1", "b=2")

    row = activity.locator("tr", has_text="terminal · you")
    expect(row).to_contain_text("demo · add")
    expect(row).to_contain_text("Done")
    row.click()

    path = activity.get_by_role("complementary", name="Call details")
    expect(path).to_contain_text("demo.add")
    expect(path).to_contain_text("Run by you in a terminal")
    expect(path).to_contain_text("demo answered")


def test_what_let_a_call_through_is_named(crib: Crib, activity: Page) -> None:
    crib.run("policy_add", rule={"effect": "allow", "server": "demo", "tool": "add", "why": "sums"})
    with crib.stream("try_tool", tool="demo__add", arguments={"a": 1, "b": 2}) as events:
        list(events)
    with crib.stream("try_tool", tool="demo__divide", arguments={"a": 1, "b": 2}) as events:
        list(events)

    expect(activity.locator("tr", has_text="demo · add")).to_contain_text("rule 1 · sums")
    expect(activity.locator("tr", has_text="demo · divide")).to_contain_text("read-only")
    activity.locator("tr", has_text="demo · divide").click()
    path = activity.get_by_role("complementary", name="Call details")
    step = path.locator("li", has_text="The built-in rule “read-only” allowed it")
    expect(step.locator(".duration")).to_contain_text("ms")


def test_calls_are_filtered_by_words_and_by_menus_and_the_address_says_so(
    crib: Crib, activity: Page, complaints: Complaints
) -> None:
    complaints.expect("400.*calls")
    called(crib, "demo__add", "a=1", "b=2")
    called(crib, "demo__divide", "a=1", "b=0")
    expect(activity.locator("tr", has_text="divide")).to_be_visible()

    activity.get_by_label("Filter calls").fill("who:terminal add")
    expect(activity.locator("[data-call]")).to_have_count(1)
    expect(activity.locator("[data-call]")).to_contain_text("add")

    activity.get_by_label("Filter calls").fill("who:terminal")
    expect(activity.locator("[data-call]")).to_have_count(2)
    activity.get_by_role("button", name="Outcome").click()
    activity.get_by_role("menuitem", name="Failed").click()
    expect(activity.locator("[data-call]")).to_have_count(1)
    expect(activity.locator("[data-call]")).to_contain_text("divide")
    expect(activity.get_by_label("Filter calls")).to_have_value("who:terminal outcome:failed")

    activity.reload()
    expect(activity.locator("[data-call]")).to_have_count(1)

    activity.get_by_label("Filter calls").fill("outcome:faild")
    expect(activity.get_by_role("alert").first).to_contain_text("Did you mean failed?")


def test_new_calls_wait_while_somebody_reads_further_down(crib: Crib, activity: Page) -> None:
    for number in range(40):
        crib.run("call", tool="demo__add", arguments={"a": number, "b": 0})
    expect(activity.locator("[data-call]").nth(39)).to_be_attached()
    activity.locator(".list-pane").evaluate("one => one.scrollTo(0, 600)")

    called(crib, "demo__add", "a=1", "b=2")

    newer = activity.get_by_role("button", name="1 new call")
    expect(newer).to_be_visible()
    expect(activity.locator("tr", has_text="terminal · you")).to_have_count(0)
    newer.click()
    expect(activity.locator("tr", has_text="terminal · you")).to_be_visible()


def test_a_question_that_waits_is_answered_here(crib: Crib, activity: Page) -> None:
    file = crib.home / "files" / "a.txt"
    with trying(crib, "filesystem__write_file", path=str(file), content="x") as told:
        row = activity.locator("tr", has_text="Asking")
        expect(row).to_contain_text("waiting for you")
        row.get_by_role("button").click()
        question = activity.get_by_role("article", name="Approval: Let filesystem write this file?")
        expect(question).to_be_focused()
        press(question, "Allow once")

    assert told[-1][0] == "result"
    assert file.read_text() == "x"
    expect(activity.get_by_role("tabpanel", name="Waiting")).to_contain_text("Nothing right now.")
    activity.get_by_role("tab", name="Calls").click()
    activity.locator("tr", has_text="once, by you").click()
    path = activity.get_by_role("complementary", name="Call details")
    expect(path).to_contain_text("Mode “ask before changes” required your approval")
    expect(path).to_contain_text("You allowed it once")


def test_a_question_that_is_kept_is_answered_here(crib: Crib, new_page: Callable[[], Page]) -> None:
    crib.setting(approvals={"modes": {"cli": "always"}, "headless": "wait"})
    waiting = crib.start().toolcrib.start("call", "demo__add", "a=1", "b=2", "--json")
    page = sign_in(new_page(), crib.sign_in_address(), "/activity?tab=waiting")
    question = page.get_by_role("article", name="Approval: Let demo run add?")
    press(question, "Allow once")

    out, _ = waiting.communicate(timeout=DEADLINE)
    assert json.loads(out)["content"] == [{"type": "text", "text": "3"}]


def test_a_rule_is_written_used_switched_off_deleted_and_brought_back(crib: Crib, activity: Page) -> None:
    activity.get_by_role("tab", name="Rules").click()
    activity.get_by_role("button", name="Add rule").click()
    dialog = activity.get_by_role("dialog", name="Add a rule")
    dialog.get_by_role("radio", name="Deny").click()
    dialog.get_by_label("Server", exact=True).fill("demo")
    dialog.get_by_label("Tool", exact=True).fill("add")
    dialog.get_by_role("button", name="Save rule").click()

    rule = activity.locator("[data-rule]", has_text="deny demo.add")
    expect(rule).to_contain_text("not used yet")
    called(crib, "demo__add", "a=1", "b=2")
    expect(rule).to_contain_text("used 1×")
    assert crib.run("calls", words="outcome:denied")["calls"][0]["gate"]["number"] == 1

    rule.get_by_role("switch").click()
    expect(rule.get_by_role("switch")).to_have_attribute("aria-checked", "false")
    assert crib.command("call", "demo__add", "a=1", "b=2").code == 0

    rule.get_by_role("button", name="More: rule 1").click()
    activity.get_by_role("menuitem", name="Delete").click()
    expect(rule).to_have_count(0)
    activity.get_by_role("button", name="Undo").click()
    expect(rule).to_be_visible()


def test_what_would_happen_is_told_without_running_anything(crib: Crib, activity: Page) -> None:
    crib.run("policy_add", rule={"effect": "deny", "server": "filesystem", "tool": "write_file"})
    before = crib.run("calls")["matching"]
    activity.get_by_role("tab", name="Rules").click()
    form = activity.get_by_role("complementary", name="What would happen?")
    form.get_by_label("Tool").fill("filesystem__write_file")
    form.get_by_label("Arguments (JSON)").fill('{"path": "/x", "content": ""}')
    form.get_by_role("button", name="Check").click()

    expect(form.get_by_role("status")).to_contain_text("It would be denied.")
    expect(form.get_by_role("status")).to_contain_text("Rule 1 decides.")
    assert crib.run("calls")["matching"] == before


def test_a_rule_that_means_something_else_than_its_examples_is_not_kept(
    crib: Crib, activity: Page, complaints: Complaints
) -> None:
    complaints.expect("400.*policy_edit")
    examples = {"match": [{"path": "/tmp/a"}]}
    patterns = {"path": {"like": "/tmp/*"}}
    rule = {"effect": "deny", "server": "x", "tool": "y", "arguments": patterns, "examples": examples}
    crib.run("policy_add", rule=rule)
    activity.goto(f"{crib.base}/activity?tab=rules")
    activity.get_by_role("button", name="More: rule 1").click()
    activity.get_by_role("menuitem", name="Edit").click()
    dialog = activity.get_by_role("dialog", name="Edit the rule")
    dialog.get_by_label("Value").fill("/home/*")
    dialog.get_by_role("button", name="Save rule").click()

    expect(dialog.get_by_role("alert")).to_contain_text("does not match its own example")
    assert crib.run("policy_list")["rules"][0]["arguments"] == patterns


def test_in_a_narrow_window_a_call_is_three_lines_and_its_path_a_page(crib: Crib, activity: Page) -> None:
    activity.set_viewport_size(NARROW)
    called(crib, "demo__add", "a=1", "b=2")
    row = activity.locator("tr", has_text="terminal · you")
    expect(row).to_be_visible()
    assert activity.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

    row.get_by_role("button").click()

    expect(activity.get_by_text("demo answered")).to_be_visible()
    expect(activity.locator("[data-call]")).to_have_count(0)
    activity.get_by_role("link", name="Back").click()
    expect(row).to_be_visible()

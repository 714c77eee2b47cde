"""Tool cards and questions in a real browser: what is shown, what is written, and what a button does."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.browsing import sign_in
from tests.web.chatting import FIELD, ask, card, choose_mode, question, said
from tests.web.running import DEADLINE, Crib
from tests.web.vendor import Say, Vendor, call
from tests.web.waiting import until

SLEEP = ("box__sleep", {"seconds": 300})
WRITE = "filesystem__write_file"
DRAWING_SERVER = Path(__file__).parent / "programs" / "drawing_server.py"


@pytest.fixture
def project(crib: Crib, tmp_path: Path) -> Path:
    """A folder in the home of the person, which the file server may write."""
    folder = tmp_path / "code" / "exporter"
    (folder / "src").mkdir(parents=True)
    crib.environment["HOME"] = str(tmp_path)
    crib.document["mcpServers"]["filesystem"]["args"] = [str(folder)]
    crib.setting(terminal={"enabled": True, "folder": str(folder)})
    return folder


@pytest.fixture
def chat(crib: Crib, project: Path, model: Vendor, new_page: Callable[[], Page]) -> Page:
    """The page of a new chat in the project."""
    return sign_in(new_page(), crib.sign_in_address(), "/chat/new")


def test_a_file_that_is_allowed_for_the_project_lets_the_next_one_beside_it_be_written(
    crib: Crib, project: Path, model: Vendor, chat: Page
) -> None:
    one, other = f"{project}/src/one.py", f"{project}/src/other.py"
    text = "first = 1\nsecond = 2\n"
    model.say(
        call((WRITE, {"path": one, "content": text})),
        call((WRITE, {"path": other, "content": "third = 3\n"})),
        Say("Both are written."),
    )
    ask(chat, "Write two files.")
    asking = question(chat)
    expect(asking).to_contain_text("~/code/exporter/src/one.py")
    expect(asking).to_contain_text("Why you're asked: It writes a new file, and no rule allows it yet.")

    asking.get_by_role("radio", name="This project").click()
    shown = (
        "allow filesystem.write_file when path in ~/code/exporter/src/** with any content and nothing else"
    )
    expect(asking.locator(".rule")).to_contain_text(f"{shown} · project exporter")
    asking.get_by_role("button", name="Allow for this project").click()

    expect(said(chat, "Both are written.")).to_be_visible()
    assert Path(other).read_text() == "third = 3\n"
    [rule] = crib.run("policy_list")["rules"]
    assert rule["words"] == shown
    assert rule["arguments"] == {"path": {"under": f"{project}/src"}, "content": {"any": True}}
    assert rule["within"] == str(project)
    second = card(chat, "write_file").last
    second.get_by_role("button", name="Details").click()
    expect(second.locator(".card-foot")).to_contain_text("allowed by rule 1")
    expect(second.locator(".card-head")).to_contain_text("~/code/exporter/src/other.py")


@pytest.mark.acceptance
def test_the_same_rule_is_offered_where_the_question_is_shown_in_a_terminal(
    crib: Crib, project: Path, model: Vendor, chat: Page
) -> None:
    model.say(call((WRITE, {"path": f"{project}/src/one.py", "content": "a\nb\n"})), Say("Written."))
    ask(chat, "Write a file.")
    question(chat)

    [waiting] = crib.run("waiting")["items"]

    always = waiting["detail"]["rules"]["always"]["allow"]
    assert f'"arguments": {{"path": {{"under": "{project}/src"}}, "content": {{"any": true}}}}' in always


def test_a_command_shows_where_it_would_run_and_what_holds_it(
    project: Path, model: Vendor, chat: Page
) -> None:
    model.say(
        call(("terminal__run_command", {"command": "make all", "cwd": "src", "timeout": 30})), Say("No.")
    )
    ask(chat, "Build it.")
    asking = question(chat)

    expect(asking).to_contain_text("In ~/code/exporter/src · ")
    expect(asking).to_contain_text(re.compile(r"(no sandbox|sandbox \w+, network (on|off)) · 30 s at most"))
    asking.get_by_role("radio", name="Always").click()
    expect(asking.locator(".rule")).to_contain_text(
        'when command is "make all" and cwd is "src" and nothing else'
    )


def test_one_card_is_stopped_and_the_answer_goes_on(crib: Crib, model: Vendor, chat: Page) -> None:
    model.say(call(SLEEP, ("box__echo", {"text": "hi"})), Say("I went on without it."))
    choose_mode(chat, "Never ask")
    ask(chat, "Do both.")
    sleep = card(chat, "sleep")
    expect(sleep.locator(".status")).to_have_text("Running")

    sleep.get_by_role("button", name="Stop sleep").click()

    expect(said(chat, "I went on without it.")).to_be_visible()
    expect(sleep.locator(".status")).to_have_text("Stopped")
    expect(sleep).to_contain_text("Nothing is left running. The model was notified and continued without it.")
    expect(card(chat, "echo").locator(".status")).to_have_text("Done")
    expect(chat.get_by_role("log")).not_to_contain_text("Stopped. Nothing is left running.")
    assert any("The person stopped this call" in told for told in model.results())
    [record] = crib.run("audit", tool="box__sleep")
    assert record["outcome"] == "cancelled"


def test_a_command_that_is_stopped_ends_with_its_children(project: Path, model: Vendor, chat: Page) -> None:
    command = {"command": "sleep 300 & sleep 301 & (echo > started); wait"}
    model.say(call(("terminal__run_command", command)), Say("Never mind."))
    choose_mode(chat, "Never ask")
    ask(chat, "Wait.")
    expect(card(chat, "run_command").locator(".status")).to_have_text("Running")
    until((project / "started").exists)
    card(chat, "run_command").get_by_role("button", name="Stop run_command").click()

    expect(said(chat, "Never mind.")).to_be_visible()
    stopped = card(chat, "run_command")
    sentence = "The process and its 2 children ended; nothing is left running."
    expect(stopped).to_contain_text(sentence)
    chat.reload()
    expect(stopped).to_contain_text(sentence)


@pytest.mark.acceptance
def test_calls_that_find_no_room_wait_for_the_others(crib: Crib, model: Vendor, chat: Page) -> None:
    many = [("box__sleep", {"seconds": 300 + number}) for number in range(10)]
    model.say(call(*many), Say("Stopped."))
    choose_mode(chat, "Never ask")
    ask(chat, "Do very much.")
    cards = card(chat, "sleep")
    expect(cards).to_have_count(10)
    expect(cards.nth(8).locator(".card-head")).to_contain_text("Waiting")
    expect(cards.nth(8).locator(".card-head")).to_contain_text("after 1 other")
    expect(cards.nth(9).locator(".card-head")).to_contain_text("after 2 others")

    cards.nth(0).get_by_role("button", name="Stop sleep").click()

    expect(cards.nth(8).locator(".status")).to_have_text("Running")
    expect(cards.nth(9).locator(".card-head")).to_contain_text("after 1 other")
    chat.reload()
    expect(cards.nth(9).locator(".card-head")).to_contain_text("after 1 other")
    chat.get_by_label(FIELD).press("Escape")
    expect(chat.locator(".turn-note", has_text="Stopped. Nothing is left running.")).to_be_visible()
    expect(cards.nth(9).locator(".status")).to_have_text("Stopped")


@pytest.mark.acceptance
def test_a_tool_that_took_too_long_can_be_given_more_time(crib: Crib, model: Vendor, chat: Page) -> None:
    crib.document["mcpServers"]["box"]["toolTimeouts"] = {"sleep": 0.2}
    crib.write()
    model.say(call(SLEEP), Say("It takes too long."))
    choose_mode(chat, "Never ask")
    ask(chat, "Wait.")
    expect(said(chat, "It takes too long.")).to_be_visible()
    late = card(chat, "sleep")
    expect(late.locator(".status")).to_have_text("Timed out")
    expect(late).to_contain_text(
        re.compile(r"No answer in .+\. The call was cancelled and the model was notified\.")
    )
    before = {one["name"]: one["pid"] for one in crib.run("servers")}

    late.get_by_role("button", name="Allow 10 min for this tool").click()

    expect(chat.get_by_role("contentinfo")).to_contain_text("sleep may now take up to 10 min.")
    assert '"toolTimeouts": {' in (crib.home / "mcp.json").read_text()
    assert crib.run("tool_set", name="box__sleep")["timeout"] == 600
    assert {one["name"]: one["pid"] for one in crib.run("servers")} == before, "nothing was started again"
    chat.get_by_role("button", name="Undo").click()
    expect(late.get_by_role("button", name="Allow 10 min for this tool")).to_be_enabled()
    assert crib.run("tool_set", name="box__sleep")["timeout"] is None


def test_a_call_that_a_rule_denies_says_which(crib: Crib, model: Vendor, chat: Page) -> None:
    crib.run("policy_add", rule={"effect": "allow", "server": "demo", "tool": "add"})
    crib.run("policy_add", rule={"effect": "deny", "server": "box", "tool": "echo", "why": "no echo here"})
    model.say(call(("box__echo", {"text": "hi"})), Say("It is not allowed."))
    ask(chat, "Say hi.")

    expect(said(chat, "It is not allowed.")).to_be_visible()
    expect(card(chat, "echo").locator(".card-head")).to_contain_text("by rule 2")
    expect(card(chat, "echo").locator(".card-body")).to_contain_text("No echo here")
    chat.reload()
    expect(card(chat, "echo").locator(".card-head")).to_contain_text("by rule 2")


@pytest.mark.acceptance
def test_a_picture_stands_beside_its_facts_and_on_a_phone_above_them(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    crib.entry("drawing", {"command": sys.executable, "args": [str(DRAWING_SERVER)]})
    expect(chat.get_by_role("contentinfo")).to_contain_text("5 up")
    model.say(call(("drawing__draw", {"element": "Exports per night"})), Say("A picture."))
    choose_mode(chat, "Never ask")
    ask(chat, "Show me.")
    expect(said(chat, "A picture.")).to_be_visible()
    picture = card(chat, "draw").locator(".picture")
    expect(picture).to_contain_text("Export dashboard")
    expect(picture.locator("img")).to_be_visible()
    expect(picture).to_contain_text(re.compile(r"\d+ × \d+ · .+ · ≈ \d+ tokens"))
    seen, facts = picture.locator("img").bounding_box(), picture.locator("> div").bounding_box()
    assert seen is not None
    assert facts is not None
    assert seen["width"] <= 380
    assert facts["x"] >= seen["x"] + seen["width"]

    chat.set_viewport_size({"width": 390, "height": 844})

    seen, facts = picture.locator("img").bounding_box(), picture.locator("> div").bounding_box()
    assert seen is not None
    assert facts is not None
    assert facts["y"] >= seen["y"] + seen["height"]


def test_a_question_asked_in_a_terminal_is_followed_on_the_page(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    model.say(Say("Hello."))
    ask(chat, "Hello?")
    expect(said(chat, "Hello.")).to_be_visible()
    number = chat.url.rpartition("/")[2]
    model.pause = threading.Event()
    model.say(Say("One. Two three four five six seven."))
    asked = threading.Thread(target=crib.command, args=("ask", "--chat", number, "Count."))
    asked.start()
    try:
        expect(chat.locator(".user-message").last).to_have_text("Count.")
        expect(chat.locator(".answer").last).to_contain_text("One")
        expect(chat.get_by_role("button", name="Stop")).to_be_visible()
    finally:
        model.pause.set()
    expect(chat.locator(".answer").last).to_have_text("One. Two three four five six seven.")
    asked.join(DEADLINE)


def test_a_call_waits_while_another_one_is_asked_about(model: Vendor, chat: Page) -> None:
    model.say(call(("box__echo", {"text": "a"}), ("box__echo", {"text": "b"})), Say("Both were said."))
    ask(chat, "Say a and b.")
    question(chat)
    expect(card(chat, "echo").locator(".card-head")).to_contain_text("Waiting")
    expect(card(chat, "echo").locator(".card-head")).to_contain_text("after 1 other")

    for _ in range(2):
        asking = question(chat)
        number = asking.get_attribute("data-question")
        asking.get_by_role("button", name="Allow once").click()
        expect(chat.locator(f"[data-question='{number}']")).to_have_count(0)

    expect(said(chat, "Both were said.")).to_be_visible()
    expect(card(chat, "echo").locator(".status")).to_have_text(["Done", "Done"])

"""The chat in a real browser: asking, watching, deciding, stopping, and what is kept of it."""

from __future__ import annotations

import asyncio
import base64
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, WIDE, sign_in
from tests.web.chatting import FIELD, ask, card, choose_mode, question, said
from tests.web.running import Crib
from tests.web.vendor import Cut, Refuse, Say, Vendor, call, vendor
from toolcrib.agent.chat import Said
from toolcrib.config.paths import find_paths
from toolcrib.schema.messages import FromModel, FromUser, Text
from toolcrib.store.chats import Chats
from toolcrib.store.database import open_database

ECHO = ("box__echo", {"text": "hi"})
SLEEP = ("box__sleep", {"seconds": 300})
ASKING_SERVER = Path(__file__).parents[1] / "agent" / "programs" / "asking_server.py"
LONG = 250
"""Questions of a long chat, each with its answer."""


@pytest.fixture
def chat(crib: Crib, model: Vendor, new_page: Callable[[], Page]) -> Page:
    """The page of a new chat."""
    return sign_in(new_page(), crib.sign_in_address(), "/chat/new")


def test_a_sample_question_is_answered_by_the_demo_model_with_a_tool(
    crib: Crib, new_page: Callable[[], Page]
) -> None:
    crib.environment["TOOLCRIB_MODEL"] = "demo"
    page = sign_in(new_page(), crib.sign_in_address(), "/chat")
    expect(page.get_by_role("heading", name="What would you like to do?")).to_be_visible()

    page.get_by_role("button", name="What time is it?").click()

    expect(said(page, "It is ")).to_be_visible()
    clock = card(page, "current_time")
    expect(clock).to_have_attribute("aria-label", re.compile(r"^demo current time, done, \d+ milliseconds?$"))
    clock.get_by_role("button", name="Details").click()
    expect(clock.locator(".card-body")).to_contain_text("(UTC")
    expect(page).to_have_url(re.compile(r"/chat/[0-9a-f]+$"))
    listed = page.get_by_role("navigation", name="Chats").get_by_role("link")
    expect(listed).to_have_text(re.compile(r"What time is it\?Done · 1 call · "))
    strip = page.locator(".turn-note", has_text="tools fit, so all were offered.")
    expect(strip).to_have_text(re.compile(r"^All \d+ tools fit, so all were offered\.Show tools$"))
    expect(page.get_by_role("complementary", name="Offered this turn")).to_have_count(0)
    strip.get_by_role("button", name="Show tools").click()
    expect(page.get_by_role("complementary", name="Offered this turn")).to_contain_text("used 1×")


def test_every_page_counts_the_same_tools_before_and_after_the_first_message(
    crib: Crib, new_page: Callable[[], Page]
) -> None:
    crib.environment["TOOLCRIB_MODEL"] = "demo"
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    rail = page.get_by_role("navigation", name="Main").get_by_role("link", name="Tools").locator(".count")
    empty = page.locator(".empty-intro")
    expect(empty).to_have_text(re.compile(r"^\d+ tools are ready\."))
    expect(rail).to_have_text(re.compile(r"^\d+$"))
    tools = rail.inner_text()
    expect(empty).to_contain_text(f"{tools} tools are ready.")

    ask(page, "What is 17 plus 25?")
    expect(said(page, "17 plus 25 is 42.")).to_be_visible()
    expect(rail).to_have_text(tools)
    expect(page.locator(".turn-note").first).to_contain_text(f"All {tools} tools fit")

    page.get_by_role("navigation", name="Main").get_by_role("link", name="Tools").click()
    summary = page.get_by_text(re.compile(rf"^{tools} tools from \d servers and Toolcrib itself"))
    expect(summary).to_contain_text(f"(13), {tools} ready now.")


def test_a_call_is_allowed_for_this_chat_and_not_asked_about_again(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    model.say(call(ECHO), call(ECHO), Say("Said twice."))
    ask(chat, "Say hi twice.")
    asking = question(chat)
    expect(asking.get_by_role("heading")).to_have_text("Let box run echo?")
    expect(asking.locator("dd.rule")).to_contain_text("none")

    asking.get_by_role("radio", name="This chat").click()
    expect(asking).to_contain_text(
        'allow box.echo when text is "hi" and nothing else · this chat · definition'
    )
    asking.get_by_role("button", name="Allow for this chat").click()

    expect(said(chat, "Said twice.")).to_be_visible()
    expect(card(chat, "echo")).to_have_count(2)
    [rule] = crib.run("policy_list")["rules"]
    assert rule["scope"] == "chat"


def test_a_tool_that_only_reads_is_allowed_whatever_its_arguments(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    model.say(call(ECHO), call(("box__echo", {"text": "something else"})), Say("Said two things."))
    ask(chat, "Say two things.")
    asking = question(chat)

    asking.get_by_role("radio", name="Always").click()
    asking.get_by_role("radio", name="Any call to this tool").click()
    expect(asking).to_contain_text("allow box.echo · everywhere · definition")
    asking.get_by_role("button", name="Always allow").click()

    expect(said(chat, "Said two things.")).to_be_visible()
    [rule] = crib.run("policy_list")["rules"]
    assert "arguments" not in rule
    assert "closed" not in rule


def test_a_question_hears_nothing_at_first_and_keys_only_with_the_focus_in_it(
    model: Vendor, chat: Page
) -> None:
    model.say(call(ECHO), Say("Said."))
    asking = chat.locator("article.question-card")
    # In the moment in which it appears, however busy the machine is.
    chat.evaluate(
        """() => new MutationObserver((_, observer) => {
          const card = document.querySelector("article.question-card[data-deaf=true]");
          if (!card) return;
          observer.disconnect();
          card.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}));
          [...card.querySelectorAll("button")].find((one) => one.textContent.startsWith("Allow")).click();
          window.pressed = true;
        }).observe(document.body, {childList: true, subtree: true, attributes: true})"""
    )
    ask(chat, "Say hi.")
    expect(asking).to_contain_text("Press again.")
    question(chat)
    assert chat.evaluate("window.pressed")
    chat.get_by_label(FIELD).press("Enter")
    chat.locator("body").press("a")
    expect(asking).to_be_visible()
    assert len(model.requests) == 1

    asking.focus()
    asking.press("a")

    expect(said(chat, "Said.")).to_be_visible()


def test_a_no_with_a_word_is_told_to_the_model_and_stands_in_the_card(model: Vendor, chat: Page) -> None:
    model.say(call(ECHO), Say("I leave it."))
    ask(chat, "Say hi.")
    asking = question(chat)

    asking.get_by_role("button", name="Deny").click()
    asking.get_by_label("Note for the model (optional)").fill("Be quiet, please")
    asking.get_by_label("Note for the model (optional)").press("Enter")

    expect(said(chat, "I leave it.")).to_be_visible()
    expect(card(chat, "echo")).to_contain_text("Your note to the model: “Be quiet, please”")
    expect(card(chat, "echo").locator(".card-head")).to_contain_text("by you")
    assert "Be quiet, please" in model.results()[-1]
    chat.reload()
    expect(card(chat, "echo")).to_contain_text("Your note to the model: “Be quiet, please”")


def test_escape_stops_a_running_tool_and_nothing_is_left(crib: Crib, model: Vendor, chat: Page) -> None:
    model.say(call(SLEEP, saying="One moment."))
    choose_mode(chat, "Never ask")
    ask(chat, "Wait.")
    expect(card(chat, "sleep").locator(".status")).to_have_text("Running")

    chat.keyboard.press("Escape")

    expect(card(chat, "sleep").locator(".status")).to_have_text("Stopped")
    expect(said(chat, "Stopped. Nothing is left running.")).to_be_visible()
    expect(chat.get_by_role("button", name="Send ↵")).to_be_visible()
    model.say(Say("Here again."))
    ask(chat, "Go on.")
    expect(said(chat, "Here again.")).to_be_visible()


def test_a_page_that_is_loaded_again_goes_on_with_the_turn(model: Vendor, chat: Page) -> None:
    model.pause = threading.Event()
    model.say(Say("One. Two three four five six seven."))
    ask(chat, "Count.")
    expect(chat.locator(".answer")).to_contain_text("One")

    chat.reload()
    expect(chat.locator(".user-message")).to_have_text("Count.")
    expect(chat.get_by_role("button", name="Stop")).to_be_visible()
    model.pause.set()

    expect(chat.locator(".answer")).to_have_text("One. Two three four five six seven.")
    expect(chat.locator(".user-message")).to_have_count(1)


def test_two_pages_see_the_same_turn_and_one_answers_for_both(
    crib: Crib, model: Vendor, chat: Page, new_page: Callable[[], Page]
) -> None:
    model.say(call(ECHO), Say("Both see it."))
    ask(chat, "Say hi.")
    expect(chat).to_have_url(re.compile(r"/chat/[0-9a-f]+$"))
    other = new_page()
    other.goto(chat.url)
    expect(other.locator("article.question-card")).to_be_visible()

    question(chat).get_by_role("button", name="Allow once").click()

    for page in (chat, other):
        expect(said(page, "Both see it.")).to_be_visible()
        expect(page.locator("article.question-card")).to_have_count(0)
        expect(card(page, "echo").locator(".status")).to_have_text("Done")


EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>'
LINKS = (
    "[click](javascript:window.hacked=3) and [fine](https://example.org/) and ![x](http://127.0.0.1:9/x.png)"
)


def test_what_models_and_tools_say_is_data(model: Vendor, chat: Page) -> None:
    told = f"# {EVIL}\n\n{LINKS}"
    model.say(call(("box__echo", {"text": told}), saying=f"{EVIL}\n\n{LINKS}"), Say(f"Done {EVIL}"))
    ask(chat, f"Say {EVIL}")
    asking = question(chat)
    expect(asking).to_contain_text(EVIL)
    asking.get_by_role("button", name="Allow once").click()
    expect(said(chat, "Done <img")).to_be_visible()
    card(chat, "echo").get_by_role("button", name="Details").click()
    expect(card(chat, "echo").locator(".card-body")).to_contain_text("onerror")
    expect(chat.locator(".user-message")).to_contain_text(EVIL)

    assert chat.evaluate("window.hacked") is None
    assert chat.locator("#main img[src='x'], #main script").count() == 0
    assert chat.locator("#main img[src^='http']").count() == 0
    addresses = chat.locator("#main .answer a").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert set(addresses) == {"https://example.org/"}
    expect(chat.locator("#main .answer a").first).to_have_attribute("rel", re.compile("noopener"))


def test_a_link_from_elsewhere_writes_a_question_but_does_not_send_it(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    chat.goto(f"{crib.base}/chat?ask=Delete%20everything")

    expect(chat.get_by_label(FIELD)).to_have_value("Delete everything")
    expect(chat).to_have_url(re.compile(r"/chat$"))
    assert model.requests == []
    assert crib.run("chats")["chats"] == []


def test_text_that_is_written_from_right_to_left_is_laid_out_so(model: Vendor, chat: Page) -> None:
    model.say(Say("שלום, זה בסדר.\n\nAnd this is English.\n\n- מרחבא"))
    ask(chat, "مرحبا, please")
    answer = chat.get_by_role("log").locator(".answer")
    expect(answer).to_contain_text("And this is English.")

    expect(answer.locator("p").first).to_have_css("direction", "rtl")
    expect(answer.locator("p").nth(1)).to_have_css("direction", "ltr")
    expect(answer.locator("li")).to_have_css("direction", "rtl")
    expect(chat.locator(".user-message span")).to_have_css("direction", "rtl")
    chat.get_by_label(FIELD).fill("שלום")
    expect(chat.get_by_label(FIELD)).to_have_css("direction", "rtl")


def test_the_header_of_a_card_opens_it(model: Vendor, chat: Page) -> None:
    model.say(call(ECHO), Say("Done."))
    choose_mode(chat, "Never ask")
    ask(chat, "Echo")
    echo = card(chat, "echo")
    expect(echo).to_have_attribute("data-outcome", "ok")
    expect(echo.locator(".card-body")).to_have_count(0)

    echo.locator(".card-head .tool-name").click()
    expect(echo.locator(".card-body")).to_be_visible()
    echo.get_by_role("button", name="Details").click()
    expect(echo.locator(".card-body")).to_have_count(0)


def test_a_chat_is_forked_from_a_question_renamed_deleted_and_brought_back(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    model.say(Say("First answer."), Say("Second answer."))
    ask(chat, "First?")
    expect(said(chat, "First answer.")).to_be_visible()
    ask(chat, "Second?")
    expect(said(chat, "Second answer.")).to_be_visible()
    origin = chat.url

    chat.get_by_role("button", name="Fork from here").first.click()
    chat.wait_for_function("before => location.href !== before", arg=origin)
    expect(said(chat, "First answer.")).to_be_visible()
    expect(said(chat, "Second answer.")).to_have_count(0)

    chat.get_by_role("button", name="More").click()
    chat.get_by_role("menuitem", name="Rename").click()
    chat.get_by_label("Title").fill("The fork")
    chat.get_by_role("button", name="Save").click()
    expect(chat.locator(".conversation h2.grow")).to_have_text("The fork")
    listed = chat.get_by_role("navigation", name="Chats")
    expect(listed).to_contain_text("The fork")

    chat.get_by_role("button", name="More").click()
    chat.get_by_role("menuitem", name="Delete").click()
    expect(listed).not_to_contain_text("The fork")
    expect(chat.get_by_text("Deleted “The fork”.")).to_be_visible()
    chat.get_by_role("button", name="Undo").click()
    expect(listed).to_contain_text("The fork")
    expect(said(chat, "First answer.")).to_be_visible()


def test_a_chat_is_forked_from_an_earlier_question_while_a_later_one_runs(model: Vendor, chat: Page) -> None:
    model.say(Say("First answer."), call(SLEEP))
    ask(chat, "First?")
    expect(said(chat, "First answer.")).to_be_visible()
    choose_mode(chat, "Never ask")
    ask(chat, "Second?")
    expect(card(chat, "sleep")).to_be_visible()
    origin = chat.url

    chat.get_by_role("button", name="Fork from here").first.click()

    chat.wait_for_function("before => location.href !== before", arg=origin)
    expect(said(chat, "First answer.")).to_be_visible()
    expect(chat.locator(".user-message")).to_have_text(["First?"])


def test_a_call_run_again_is_a_new_card_below_under_the_gate(model: Vendor, chat: Page) -> None:
    model.say(call(ECHO), Say("Said."))
    ask(chat, "Say hi.")
    question(chat).get_by_role("button", name="Allow once").click()
    expect(said(chat, "Said.")).to_be_visible()

    card(chat, "echo").get_by_role("button", name="Run again").click()
    question(chat).get_by_role("button", name="Allow once").click()

    expect(card(chat, "echo")).to_have_count(2)
    expect(card(chat, "echo").last.locator(".status")).to_have_text("Done")
    expect(chat.locator(".user-message")).to_have_count(1)


def test_a_banned_tool_is_not_offered_with_the_next_question(model: Vendor, chat: Page) -> None:
    model.say(Say("One."), Say("Two."))
    ask(chat, "First?")
    expect(said(chat, "One.")).to_be_visible()
    chat.get_by_role("button", name="Show tools").click()
    panel = chat.get_by_role("complementary", name="Offered this turn")
    panel.get_by_role("button", name="Block echo").click()
    expect(panel).to_contain_text("Blocked in this chat.")

    ask(chat, "Second?")
    expect(said(chat, "Two.")).to_be_visible()

    offered = [tool["function"]["name"] for tool in model.requests[-1]["tools"]]
    assert "box__echo" not in offered
    assert "demo__add" in offered


def test_what_is_written_meanwhile_is_sent_when_the_answer_has_ended(model: Vendor, chat: Page) -> None:
    model.pause = threading.Event()
    model.say(Say("The first answer is here."), Say("The second answer."))
    ask(chat, "First?")
    expect(chat.get_by_role("button", name="Stop")).to_be_enabled()
    ask(chat, "Second?")
    expect(chat.get_by_text("This message is sent when the answer is complete.")).to_be_visible()
    model.pause.set()

    expect(said(chat, "The second answer.")).to_be_visible()
    expect(chat.locator(".user-message")).to_have_text(["First?", "Second?"])


def test_a_refused_key_says_so_with_a_way_out(model: Vendor, chat: Page) -> None:
    model.say(Refuse(401, "This key is not known."))
    ask(chat, "Hello?")

    trouble = chat.locator(".error-box")
    expect(trouble).to_contain_text("rejected the key")
    expect(trouble.get_by_role("link", name="Replace key")).to_have_attribute("href", "/settings#models")
    expect(chat.get_by_role("navigation", name="Chats")).to_contain_text("Failed")


def test_a_busy_vendor_is_waited_for_and_the_page_says_so(model: Vendor, chat: Page) -> None:
    model.say(Refuse(429, "Slow down.", {"Retry-After": "5"}), Say("Here I am."))
    ask(chat, "Hello?")

    expect(chat.get_by_role("log")).to_contain_text(re.compile(r"Retrying in \d s\."))
    expect(said(chat, "Here I am.")).to_be_visible()
    expect(chat.get_by_role("log")).not_to_contain_text("Retrying")


def test_without_a_model_the_page_says_what_was_looked_for_and_offers_the_demo(
    crib: Crib, new_page: Callable[[], Page]
) -> None:
    page = sign_in(new_page(), crib.sign_in_address(), "/chat")
    expect(page.get_by_text("Needs a model")).to_be_visible()

    page.get_by_role("button", name="Use demo").click()
    page.get_by_role("button", name="What is 1 divided by 7?").click()

    expect(page.locator(".answer")).to_contain_text("0.142857142857")


def test_without_a_model_an_address_is_connected_in_place_and_stands_in_the_menu(
    crib: Crib, new_page: Callable[[], Page]
) -> None:
    with vendor(Say("ready"), Say("From the studio.")) as studio:
        studio.models = [{"id": "large", "created": 1_790_000_000}, {"id": "tiny"}]
        page = sign_in(new_page(), crib.sign_in_address(), "/chat")
        page.get_by_role("button", name="Add a model").click()
        form = page.get_by_role("dialog", name="Add a model")
        form.get_by_label("Vendor").select_option("Another address")
        form.get_by_label("Name").fill("studio")
        form.get_by_label("Address of its API").fill(studio.address)
        form.get_by_role("button", name="Test and save").click()
        form.get_by_role("button", name="Done").click()
        ask(page, "Hello?")
        expect(said(page, "From the studio.")).to_be_visible()

        page.get_by_role("button", name="Choose a model, now studio:large").click()
        expect(page.get_by_role("menuitem", name="studio:tiny")).to_be_visible()
        page.get_by_role("menuitem", name="Another model…").click()
        chosen = page.get_by_role("dialog", name="Choose a model").get_by_role("combobox")
        chosen.fill("tiny")
        chosen.press("Enter")
        expect(page.get_by_role("button", name="Choose a model, now studio:tiny")).to_be_visible()

        page.locator("body").press("Control+k")
        page.get_by_role("combobox", name="Search").fill("how far is the moon")
        expect(page.get_by_role("option", name="Ask in a new chat")).to_contain_text("studio:tiny")


def test_a_picture_is_attached_and_made_smaller(model: Vendor, chat: Page) -> None:
    drawn = chat.evaluate(
        """async () => {
          const canvas = Object.assign(document.createElement("canvas"), {width: 2000, height: 500});
          const context = canvas.getContext("2d");
          const noise = context.createImageData(2000, 500);
          for (let i = 0; i < noise.data.length; i++) noise.data[i] = i % 4 === 3 ? 255 : Math.random() * 256;
          context.putImageData(noise, 0, 0);
          return canvas.toDataURL("image/png").split(",")[1];
        }"""
    )
    picture: Any = {
        "name": "big.png",
        "mimeType": "image/png",
        "buffer": base64.b64decode(drawn),
    }
    chat.locator("input[data-attach]").set_input_files([picture])
    expect(chat.get_by_text("reduced to")).to_be_visible()
    model.say(Say("Colourful."))
    ask(chat, "What is this?")

    expect(said(chat, "Colourful.")).to_be_visible()
    expect(chat.locator(".user-message img")).to_be_visible()
    [sent] = [part for part in model.requests[-1]["messages"][-1]["content"] if part["type"] == "image_url"]
    assert sent["image_url"]["url"].startswith("data:image/webp;base64,")


def test_chats_are_found_by_their_words(model: Vendor, chat: Page) -> None:
    model.say(Say("A walrus has tusks."))
    ask(chat, "Tell me of the sea.")
    expect(said(chat, "A walrus has tusks.")).to_be_visible()

    chat.get_by_role("button", name="Search chats").click()
    chat.get_by_label("Search all chats").fill("tusks")
    listed = chat.get_by_role("navigation", name="Chats")
    expect(listed).to_contain_text("Found")
    expect(listed.get_by_role("link")).to_have_count(1)
    chat.get_by_label("Search all chats").fill("elephant")

    expect(listed).to_contain_text("No chats contain “elephant”.")


def test_on_a_phone_the_chats_are_behind_back_and_a_question_can_be_answered(
    model: Vendor, chat: Page
) -> None:
    chat.set_viewport_size(NARROW)  # type: ignore[arg-type]
    model.say(call(ECHO), Say("Said."))
    ask(chat, "Say hi.")
    question(chat).get_by_role("button", name="Allow once").click()
    expect(said(chat, "Said.")).to_be_visible()
    assert chat.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]

    chat.get_by_role("link", name="Back").click()

    expect(chat.get_by_role("navigation", name="Chats").get_by_role("link")).to_contain_text("Say hi.")


def test_a_server_that_asks_is_answered_in_its_own_card(crib: Crib, model: Vendor, chat: Page) -> None:
    crib.entry("asking", {"command": sys.executable, "args": [str(ASKING_SERVER)]})
    expect(chat.get_by_role("contentinfo")).to_contain_text("5 up")
    model.say(call(("asking__interview", {})), Say("Thank you."))
    choose_mode(chat, "Never ask")
    ask(chat, "Who am I?")
    asking = question(chat)
    expect(asking.get_by_role("heading")).to_have_text("asking asks for input")
    expect(asking).to_contain_text("asking says: “Your name?”")
    expect(asking).to_contain_text("Never enter a password here.")

    asking.get_by_label("name").fill("Ada")
    asking.get_by_role("button", name="Send answer").click()

    expect(said(chat, "Thank you.")).to_be_visible()
    assert '"name": "Ada"' in model.results()[-1]


def test_a_server_that_wants_the_model_shows_what_it_would_send(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    crib.entry("asking", {"command": sys.executable, "args": [str(ASKING_SERVER)]})
    expect(chat.get_by_role("contentinfo")).to_contain_text("5 up")
    model.say(call(("asking__ponder", {})), Say("Not asked."))
    choose_mode(chat, "Never ask")
    ask(chat, "Ponder.")
    asking = question(chat)
    expect(asking.get_by_role("heading")).to_have_text("asking wants to use your model")
    expect(asking).to_contain_text("What is a crib?")

    asking.get_by_role("button", name="Deny").click()

    expect(said(chat, "Not asked.")).to_be_visible()
    assert "What is a crib?" not in str(model.requests)


def test_an_answer_that_breaks_off_keeps_its_text_and_is_continued(model: Vendor, chat: Page) -> None:
    model.say(Cut("This answer is cut in the middle."))
    ask(chat, "Tell me.")
    trouble = chat.locator(".error-box")
    expect(trouble).to_contain_text("The answer was cut off here.")
    expect(said(chat, "This answer")).to_be_visible()

    model.say(Say("The rest."))
    trouble.get_by_role("button", name="Continue").click()

    expect(said(chat, "The rest.")).to_be_visible()
    expect(said(chat, "This answer")).to_be_visible()


_SETTLED = """element => new Promise((done) => {
    let before = -1, same = 0;
    const look = () => {
        same = element.scrollTop === before ? same + 1 : 0;
        before = element.scrollTop;
        same < 20 ? requestAnimationFrame(look) : done(before);
    };
    look();
})"""
"""Where it has stayed for twenty frames: the last turn of the wheel may still move it."""


def test_a_long_chat_is_drawn_by_window_and_stays_quick(
    crib: Crib, model: Vendor, new_page: Callable[[], Page]
) -> None:
    long = _long_chat(crib.home)
    page = sign_in(new_page(), crib.sign_in_address())
    page.add_init_script(
        "window.slow = []; new PerformanceObserver((list) => window.slow.push(...list.getEntries()"
        ".map((one) => one.duration))).observe({type: 'longtask', buffered: true});"
    )
    page.goto(f"{crib.base}/chat/{long}")
    expect(said(page, f"Answer {LONG - 1} ends here.")).to_be_visible()
    expect(page.locator(".unformatted")).to_have_count(0)
    assert page.locator(".turn").count() < 30
    page.evaluate("window.slow.length = 0")

    scroller = page.get_by_role("region", name="Messages")
    for _ in range(20):
        scroller.hover()
        page.mouse.wheel(0, -900)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    held = scroller.evaluate(_SETTLED)
    model.say(Say("One more."))
    crib.run("chat_send", chat=long, text="And now?")
    expect(page.get_by_role("navigation", name="Chats")).to_contain_text("Done")
    assert abs(scroller.evaluate("element => element.scrollTop") - held) < 2
    page.get_by_role("button", name="Jump to latest").click()

    expect(said(page, "One more.")).to_be_visible()
    # Drawn whole, it would be slow at each of the steps; once or twice the machine may have stood still.
    assert sum(one > 1000 for one in page.evaluate("window.slow")) <= 2


def test_the_page_can_be_used_with_a_screen_reader(model: Vendor, chat: Page) -> None:
    faults = look_over(chat)
    model.say(
        call(("demo__add", {"a": 1, "b": 2}), ("demo__divide", {"a": 1, "b": 0})),
        call(ECHO),
        Say("**Done.**"),
    )
    ask(chat, "Do several things.")
    question(chat)
    expect(chat.get_by_role("alert").filter(has_text="Approval needed: Let box run echo?")).to_have_count(1)
    card(chat, "add").get_by_role("button", name="Details").click()
    for size in (WIDE, NARROW):
        chat.set_viewport_size(size)  # type: ignore[arg-type]
        for theme in ("light", "dark"):
            chat.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
            faults += look_over(chat)

    assert faults == []


def _long_chat(home: Path) -> str:
    """A chat of many messages, written as the host writes them."""

    async def write() -> str:
        async with open_database(find_paths(home).ensure().database) as database:
            chats = Chats(database)
            chat = await chats.create("studio:scripted", title="A long one")
            for number in range(LONG):
                asked = FromUser(parts=(Text(f"Question {number}?"),))
                text = f"## Part {number}\n\n" + "Some *words* with `code`. " * (5 + number % 40)
                told = FromModel(parts=(Text(f"{text}\n\nAnswer {number} ends here."),))
                chats.append(chat.id, 2 * number, Said(asked))
                chats.append(chat.id, 2 * number + 1, Said(told))
            await chats.flush()
        return chat.id

    found: list[str] = []
    # The browser's own loop runs in this thread.
    thread = threading.Thread(target=lambda: found.append(asyncio.run(write())))
    thread.start()
    thread.join()
    return found[0]

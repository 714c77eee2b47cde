"""A chat in a real browser: answers again, edited questions, earlier versions, files, pins and search."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, sign_in
from tests.web.chatting import FIELD, ask, said
from tests.web.running import Crib
from tests.web.vendor import Refuse, Say, Vendor


@pytest.fixture
def chat(crib: Crib, model: Vendor, new_page: Callable[[], Page]) -> Page:
    """The page of a new chat."""
    return sign_in(new_page(), crib.sign_in_address(), "/chat/new")


def file(name: str, content: bytes | str, mime: str = "") -> Any:
    content = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": mime, "buffer": content}


def attach(page: Page, *files: Any) -> None:
    page.locator("input[data-attach]").set_input_files(list(files))


def test_an_answer_is_regenerated_and_the_earlier_one_can_be_read_and_continued(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    model.say(Say("First try."), Say("Second try."), Say("On the first."))
    ask(chat, "Try.")
    expect(said(chat, "First try.")).to_be_visible()
    address = chat.url

    chat.get_by_role("button", name="Regenerate").click()

    expect(said(chat, "Second try.")).to_be_visible()
    expect(said(chat, "First try.")).to_have_count(0)
    expect(chat.get_by_role("group", name="Versions of this message")).to_contain_text("2 of 2")
    expect(chat.get_by_label("Next version")).to_be_disabled()
    assert chat.url == address
    chat.get_by_label("Previous version").press("Enter")
    expect(said(chat, "First try.")).to_be_visible()
    expect(chat.get_by_role("group", name="Versions of this message")).to_contain_text("1 of 2")
    expect(chat.get_by_text("This is an earlier version of the chat.")).to_be_visible()
    expect(chat.get_by_role("button", name="Regenerate")).to_be_disabled()
    expect(chat.get_by_label(FIELD)).to_have_count(0)
    assert look_over(chat) == []
    chat.reload()
    expect(said(chat, "First try.")).to_be_visible()
    chat.get_by_role("button", name="Back to the latest").click()
    expect(said(chat, "Second try.")).to_be_visible()

    chat.get_by_label("Previous version").click()
    chat.get_by_role("button", name="Continue from here as a fork").click()
    expect(chat.get_by_text("This is an earlier version of the chat.")).to_have_count(0)
    ask(chat, "Go on.")
    expect(said(chat, "On the first.")).to_be_visible()
    assert "First try." in [one["content"] for one in model.requests[-1]["messages"]]
    assert len(crib.run("chats")["chats"]) == 2


def test_another_model_regenerates_where_one_is_chosen(model: Vendor, chat: Page) -> None:
    model.say(Say("By the script."))
    ask(chat, "What is 1 plus 2?")
    expect(said(chat, "By the script.")).to_be_visible()

    chat.get_by_role("button", name=re.compile("^Choose a model")).click()
    chat.get_by_role("menuitem", name="demo", exact=True).click()
    chat.get_by_role("button", name="Regenerate with demo").click()

    expect(said(chat, "1 plus 2 is 3.")).to_be_visible()
    expect(chat.locator(".turn-usage")).to_contain_text("demo")
    chat.get_by_label("Previous version").click()
    expect(chat.locator(".turn-usage")).to_contain_text("studio:scripted")


def test_a_question_is_edited_with_the_keyboard_and_keeps_its_files(model: Vendor, chat: Page) -> None:
    model.say(Say("One."), Say("Two."))
    attach(chat, file("notes.md", "# Notes"))
    expect(chat.get_by_role("list", name="Attached files")).to_contain_text("notes.md")
    ask(chat, "Frist?")
    expect(said(chat, "One.")).to_be_visible()
    address = chat.url

    chat.get_by_label(FIELD).press("ArrowUp")
    expect(chat.get_by_label(FIELD)).to_have_value("Frist?")
    expect(chat.get_by_text("Editing a message.")).to_be_visible()
    chat.get_by_role("button", name="Cancel", exact=True).click()
    expect(chat.get_by_label(FIELD)).to_have_value("")
    chat.get_by_label(FIELD).press("ArrowUp")
    expect(chat.get_by_role("list", name="Attached files")).to_contain_text("notes.md")
    ask(chat, "First?")

    expect(said(chat, "Two.")).to_be_visible()
    expect(chat.locator(".message-text")).to_have_text(["First?"])
    expect(chat.locator(".conversation h2.grow")).to_have_text("First?")
    assert chat.url == address
    asked = str(model.requests[-1]["messages"])
    assert "First?" in asked
    assert "# Notes" in asked
    assert "Frist?" not in asked


def test_a_phone_has_the_actions_below_the_last_question(model: Vendor, chat: Page) -> None:
    model.say(Say("One."), Say("Two."))
    chat.set_viewport_size(NARROW)
    ask(chat, "First?")
    expect(said(chat, "One.")).to_be_visible()

    chat.get_by_role("button", name="Edit and resend").click()
    expect(chat.get_by_label(FIELD)).to_have_value("First?")
    chat.get_by_role("button", name="Cancel", exact=True).click()
    chat.get_by_role("button", name="Regenerate").click()

    expect(said(chat, "Two.")).to_be_visible()
    expect(chat.get_by_label("Previous version")).to_be_in_viewport()
    assert chat.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    chat.get_by_role("button", name="More").first.click()
    chat.get_by_role("menuitem", name="Pin", exact=True).click()
    chat.get_by_role("button", name="More").first.click()
    expect(chat.get_by_role("menuitem", name="Unpin", exact=True)).to_be_visible()


def test_trying_again_after_a_failure_replaces_the_failed_answer(model: Vendor, chat: Page) -> None:
    model.say(Refuse(400, "It is broken."), Say("Works."))
    ask(chat, "Try.")
    chat.get_by_role("button", name="Try again").click()

    expect(said(chat, "Works.")).to_be_visible()
    expect(chat.locator(".message-text")).to_have_text(["Try."])


def test_another_tab_sees_what_a_new_question_replaces(
    model: Vendor, chat: Page, new_page: Callable[[], Page]
) -> None:
    model.say(Say("First try."), Say("Second try."))
    ask(chat, "Try.")
    expect(said(chat, "First try.")).to_be_visible()
    other = new_page()
    other.goto(chat.url)
    expect(said(other, "First try.")).to_be_visible()

    chat.get_by_role("button", name="Regenerate").click()

    expect(said(other, "Second try.")).to_be_visible()
    expect(said(other, "First try.")).to_have_count(0)
    expect(other.get_by_label("Previous version")).to_be_visible()


def test_text_files_are_attached_shown_and_opened(model: Vendor, chat: Page) -> None:
    model.say(Say("Read."))
    attach(
        chat,
        file("numbers.csv", "a,b\n1,2\n", "text/csv"),
        file("wrong.log", "oops"),
        file("größe.py", "x = 1"),
    )
    listed = chat.get_by_role("list", name="Attached files")
    expect(listed.get_by_role("listitem")).to_have_text(
        [re.compile("numbers.csv8 B"), re.compile("wrong.log"), re.compile("größe.py5 B")]
    )
    chat.get_by_role("button", name="Remove wrong.log").click()
    ask(chat, "Read them.")

    expect(said(chat, "Read.")).to_be_visible()
    expect(listed).to_have_count(0)
    sent = str(model.requests[-1]["messages"][-1])
    assert '<attached_file name="numbers.csv">' in sent
    assert "wrong.log" not in sent
    chat.get_by_role("button", name="Open numbers.csv").click()
    opened = chat.get_by_role("dialog", name="numbers.csv")
    expect(opened.locator("pre")).to_have_text("a,b\n1,2\n")
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("button", name="Open numbers.csv")).to_be_focused()
    chat.reload()
    expect(chat.get_by_role("button", name="Open größe.py")).to_be_visible()


def test_files_are_dropped_and_pasted(chat: Page) -> None:
    expect(chat.get_by_label(FIELD)).to_be_visible()
    for kind in ("drop", "paste"):
        chat.evaluate(
            """kind => {
              const data = new DataTransfer();
              data.items.add(new File(["text"], `${kind}.txt`, {type: "text/plain"}));
              const field = document.querySelector(".composer-field");
              const options = {bubbles: true, cancelable: true};
              field.dispatchEvent(kind === "drop"
                ? new DragEvent("drop", {...options, dataTransfer: data})
                : new ClipboardEvent("paste", {...options, clipboardData: data}));
            }""",
            kind,
        )
        expect(chat.get_by_role("button", name=f"Remove {kind}.txt")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("report.pdf", b"%PDF-1.7\n%\xff", "is a PDF, which cannot be attached. Paste its text"),
        ("a.out", b"\x7fELF\x02\x00\xff", "it is neither text nor a picture"),
        ("nul.txt", b"a\x00b", "it is neither text nor a picture"),
        ("empty.txt", b"", "is empty"),
        ("long.log", b"x" * 1_000_001, "Up to 1,000,000 characters can be attached"),
        ("huge.log", "ü".encode() * 2_500_000, "Up to 1,000,000 characters can be attached"),
        ("broken.png", b"not a picture", "cannot be read as a picture"),
    ],
)
def test_what_cannot_be_attached_is_refused_with_the_reason(
    chat: Page, name: str, content: bytes, why: str
) -> None:
    attach(chat, file(name, content, "image/png" if name.endswith("png") else ""))

    refused = chat.get_by_role("alert").filter(has_text=name)
    expect(refused).to_contain_text(why)
    expect(chat.get_by_role("list", name="Attached files")).to_have_count(0)


def test_more_files_than_are_taken_are_left_out_and_a_long_one_is_cut(
    crib: Crib, model: Vendor, chat: Page
) -> None:
    crib.run("settings_set", key="agent.contextTokens", value=8000)
    model.say(Say("Read."))
    attach(chat, file("long.txt", "word " * 20_000), *(file(f"{number}.txt", "x") for number in range(8)))
    expect(chat.get_by_role("alert").filter(has_text="Up to 8 files")).to_be_visible()
    expect(chat.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(8)

    ask(chat, "Read them.")

    expect(said(chat, "Read.")).to_be_visible()
    expect(
        chat.get_by_text(re.compile(r"The model received the first [\d,]+ of 100,000 characters"))
    ).to_be_visible()


def test_a_pinned_chat_stays_on_top_in_every_browser(
    crib: Crib, model: Vendor, chat: Page, new_page: Callable[[], Page]
) -> None:
    model.say(Say("One."), Say("Two."))
    ask(chat, "Old chat")
    expect(said(chat, "One.")).to_be_visible()
    chat.locator("body").press("Escape")
    chat.goto(chat.url.rsplit("/", 1)[0] + "/new")
    ask(chat, "New chat")
    expect(said(chat, "Two.")).to_be_visible()
    links = chat.get_by_role("navigation", name="Chats").get_by_role("link")
    expect(links).to_have_text([re.compile("New chat"), re.compile("Old chat")])

    chat.get_by_role("button", name="Pin “Old chat”").focus()
    chat.keyboard.press("Enter")

    expect(links).to_have_text([re.compile("Old chat"), re.compile("New chat")])
    expect(chat.locator(".chat-links .group-label").first).to_have_text("Pinned")
    other = new_page()
    other.goto(chat.url)
    expect(other.get_by_role("navigation", name="Chats").get_by_role("link").first).to_contain_text(
        "Old chat"
    )
    other.get_by_role("button", name="Unpin “Old chat”").click()
    expect(other.get_by_role("navigation", name="Chats").get_by_role("link").first).to_contain_text(
        "New chat"
    )


def test_a_search_shows_hits_in_context_and_opens_the_chat_there(model: Vendor, chat: Page) -> None:
    filler = "\n\n".join(f"Paragraph {number} of many." for number in range(80))
    model.say(Say(f"{filler}\n\nThe walrus has tusks.\n\n{filler}"), *(Say(f"Answer {n}.") for n in range(5)))
    ask(chat, "Tell me of the sea.")
    for number in range(5):
        expect(chat.get_by_role("button", name="Regenerate")).to_be_enabled()
        ask(chat, f"And {number}?")
        expect(said(chat, f"Answer {number}.")).to_be_visible()
    expect(said(chat, "The walrus has tusks.")).not_to_be_in_viewport()

    chat.locator(".scroller").focus()
    chat.locator(".scroller").press("/")
    field = chat.get_by_label("Search all chats")
    field.fill("walrus TUSKS")
    hit = chat.get_by_role("navigation", name="Chats").get_by_role("link")
    expect(hit).to_have_count(1)
    expect(hit.locator("mark")).to_have_text(["walrus", "tusks"])
    field.press("ArrowDown")
    expect(hit).to_be_focused()
    hit.press("ArrowUp")
    expect(field).to_be_focused()
    field.press("Enter")

    expect(said(chat, "The walrus has tusks.")).to_be_in_viewport()
    expect(chat.locator(".thread-item.found")).to_have_count(1)
    field.fill("elephant")
    expect(chat.get_by_text("No chats contain “elephant”.")).to_be_visible()
    assert look_over(chat) == []
    field.press("Escape")
    expect(hit).to_contain_text("Tell me of the sea.")


def test_a_hit_in_an_earlier_version_opens_that_version(model: Vendor, chat: Page) -> None:
    model.say(Say("A walrus."), Say("A seal."))
    ask(chat, "Which animal?")
    expect(said(chat, "A walrus.")).to_be_visible()
    chat.get_by_role("button", name="Regenerate").click()
    expect(said(chat, "A seal.")).to_be_visible()

    chat.get_by_role("button", name="Search chats").click()
    chat.get_by_label("Search all chats").fill("walrus")
    chat.get_by_role("navigation", name="Chats").get_by_role("link").click()

    expect(said(chat, "A walrus.")).to_be_visible()
    expect(chat.get_by_text("This is an earlier version of the chat.")).to_be_visible()

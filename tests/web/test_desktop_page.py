"""A chat with a scripted model drives a real program on a display of its own, in a browser."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, WIDE, sign_in
from tests.web.chatting import ask, card, question, said
from tests.web.layout import faults_of_layout
from tests.web.running import Crib
from tests.web.vendor import Call, Say, Vendor, call
from tests.web.waiting import until
from toolcrib.bundled.desktop import create

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.skipif(sys.platform != "linux", reason="Xvfb is for Linux."),
]
SIZE = ["--headless", "1024x700"]
_NAMES = {"program": ("name", "id"), "application": ("application", "parent"), "keys": ("keys", "key")}


def step(tool: str, **arguments: Any) -> Call:
    """A call by the model, with the tool's own names for the arguments."""
    known = create(["--profile", "full"]).tools[tool].definition["inputSchema"]["properties"]
    given = {
        next((each for each in _NAMES.get(name, ()) if each in known), name): value
        for name, value in arguments.items()
    }
    return call((f"desktop__{tool}", given))


def add_desktop(crib: Crib) -> None:
    crib.entry(
        "desktop",
        {"type": "inprocess", "module": "toolcrib.bundled.desktop", "args": [*SIZE, "--profile", "full"]},
    )


def allow(page: Page, title: str) -> None:
    """Allow what is asked for the whole chat, after all of it was in view."""
    asking = question(page)
    expect(asking.get_by_role("heading", name=title)).to_be_visible()
    expect(asking.get_by_role("radio", name="This chat")).to_be_checked()
    asking.locator(".whole").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    asking.get_by_role("button", name="Allow for this chat").click()
    expect(asking.get_by_role("heading", name=title)).to_have_count(0)


def picture(image: Locator) -> bytes:
    expect(image).to_be_visible()
    return base64.b64decode((image.get_attribute("src") or "").partition("base64,")[2])


def test_a_chat_writes_a_letter_in_an_editor_and_saves_it(
    crib: Crib, model: Vendor, new_page: Callable[[], Page], tmp_path: Path
) -> None:
    add_desktop(crib)
    file = tmp_path / "letter.txt"
    model.say(
        step("open_application", program="mousepad"),
        step("write_element_value", selector={"role": "text"}, value="Dear Ada", application="mousepad"),
        step("press_key", keys="ctrl+shift+s"),
        step("find_elements", application="mousepad", selector="role:file chooser", wait=20),
        step(
            "write_element_value",
            selector={"role": "textbox", "attributes": {"focused": "true"}},
            value=str(file),
            application="mousepad",
        ),
        step(
            "click_element",
            selector={"role": "button", "text": "Save", "attributes": {"showing": "true"}},
            application="mousepad",
        ),
        step("take_screenshot"),
        Say("The letter is saved."),
    )
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    ask(page, "Write a letter to Ada.")
    allow(page, "Open mousepad?")

    asking = question(page)
    expect(asking).to_contain_text("Untitled 1 - Mousepad")
    shown = asking.get_by_role("group", name="Window")
    expect(shown.get_by_role("region", name="Text to fill in")).to_have_text("Dear Ada")
    assert picture(shown.locator("img")).startswith(b"\xff\xd8")
    frame, mark = shown.locator("img").bounding_box(), shown.locator(".screen-target").bounding_box()
    assert frame is not None
    assert mark is not None
    assert frame["x"] <= mark["x"] + 5
    assert mark["y"] + mark["height"] <= frame["y"] + frame["height"] + 5
    assert not file.exists()
    live = page.get_by_role("region", name="The screen of desktop")
    before = live.locator("img").get_attribute("src") or ""
    for width in (WIDE, NARROW):
        page.set_viewport_size(width)
        assert faults_of_layout(page) == []
        assert look_over(page) == []
    page.set_viewport_size(WIDE)
    allow(page, "Control the window “Untitled 1 - Mousepad” (Mousepad)?")
    allow(page, "Control the window “Save As” (Mousepad)?")

    expect(said(page, "The letter is saved.")).to_be_visible()
    until(lambda: file.exists() and file.read_text().rstrip("\n") == "Dear Ada", model.results)
    expect(card(page, "take_screenshot").locator("img")).to_be_visible()
    expect(live.locator("img")).not_to_have_attribute("src", before)

    page.goto(f"{crib.base}/activity?words=tool:write_element_value")
    page.locator("tbody tr", has_text="write_element_value").last.click()
    expect(page.locator(".screen-target")).to_be_visible()


def test_input_is_stopped_on_the_page_until_it_is_allowed_again(
    crib: Crib, model: Vendor, new_page: Callable[[], Page]
) -> None:
    add_desktop(crib)
    model.say(
        step("open_application", program="mousepad"),
        step("type_text", text="abc " * 4000),
        step("press_key", keys="a"),
        Say("I was stopped."),
    )
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    ask(page, "Type a lot.")
    allow(page, "Open mousepad?")
    allow(page, "Control the window “Untitled 1 - Mousepad” (Mousepad)?")
    live = page.get_by_role("region", name="The screen of desktop")
    live.get_by_role("button", name="Stop input").click()
    expect(said(page, "I was stopped.")).to_be_visible()
    assert all("stopped all input" in one for one in model.results()[-2:])

    page.goto(f"{crib.base}/servers/desktop")
    live = page.get_by_role("region", name="The screen of desktop")
    expect(live).to_contain_text("All input is stopped.")
    assert picture(live.locator("img")).startswith(b"\xff\xd8")
    for width in (WIDE, NARROW):
        page.set_viewport_size(width)
        assert faults_of_layout(page) == []
    live.get_by_role("button", name="Allow input again").click()
    expect(live.get_by_role("button", name="Stop input")).to_be_visible()
    assert crib.command("halt", "desktop", "--json").json["stopped"] == "the page"
    expect(live).to_contain_text("Stopped")

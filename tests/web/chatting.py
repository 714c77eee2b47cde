"""What a person does and sees in a chat, for the tests of its page."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page

from tests.web.browsing import until_at_rest

FIELD = "Ask something…"


def ask(page: Page, text: str) -> None:
    """Write and send."""
    page.get_by_label(FIELD).fill(text)
    page.get_by_label(FIELD).press("Enter")


def said(page: Page, text: str) -> Locator:
    """What stands in the conversation."""
    return page.get_by_role("log").get_by_text(text)


def card(page: Page, name: str) -> Locator:
    """The card of a tool."""
    return page.locator("article.tool-card:not(.question-card)", has_text=name)


def question(page: Page) -> Locator:
    """The question that waits, once it listens."""
    found = page.locator("article.question-card")
    until_at_rest(found)
    return found


def choose_mode(page: Page, name: str) -> None:
    """Choose when to be asked."""
    page.get_by_role("button", name=re.compile("^Approval mode")).click()
    page.get_by_role("menuitem", name=name).click()
    if name == "Never ask":
        page.get_by_role("button", name="Turn off approvals").click()

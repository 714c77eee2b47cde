"""Approving a message or an email in a real browser: it is shown as its recipients will see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.bundled.discord.server import GENERAL, TOKEN, Discord
from tests.bundled.loopback import served
from tests.web.axe import look_over
from tests.web.browsing import NARROW, sign_in
from tests.web.chatting import ask, question, said
from tests.web.layout import faults_of_layout
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor, call
from toolcrib.accounts import Account, AccountStore

BODY = "Hello,\n\n<b>here</b> are the minutes.\n" + "\n".join(f"{number}. A point" for number in range(60))
CLOSED = {"imap_host": "127.0.0.1", "imap_port": 9, "smtp_host": "127.0.0.1", "smtp_port": 9}
"""No email is sent here: the preview needs no server."""


@pytest.fixture
def discord() -> Iterator[Discord]:
    with served(Discord()) as service:
        yield cast("Discord", service)


def add_bot(page: Page, api: str) -> None:
    """Add the account in the settings, which turns on the server."""
    page.get_by_role("button", name="Add account").click()
    page.get_by_role("dialog").get_by_role("button", name="Discord").click()
    form = page.get_by_role("dialog", name="Add Discord")
    form.get_by_label("Name", exact=True).fill("bot")
    form.get_by_label("Bot token").fill(TOKEN)
    form.get_by_label("API address").fill(api)
    form.get_by_role("button", name="Test and save").click()
    added = page.get_by_role("dialog", name="bot works")
    expect(added).to_contain_text("Turned on: discord.")
    added.get_by_role("button", name="Done").click()


def ready(page: Page, server: str) -> Locator:
    page.goto(page.url.partition("/settings")[0] + f"/servers/{server}")
    expect(page.get_by_role("main")).to_contain_text("Running")
    return page.get_by_role("region", name="Accounts")


def test_a_message_is_shown_with_whom_it_notifies_and_then_sent(
    crib: Crib, model: Vendor, discord: Discord, new_page: Callable[[], Page]
) -> None:
    page = sign_in(new_page(), crib.sign_in_address(), "/settings")
    add_bot(page, discord.api)
    expect(ready(page, "discord")).to_contain_text("helper")
    given = {"channel": GENERAL, "text": "@everyone lunch is ready", "mention_everyone": True}
    model.say(call(("discord__send_message", given)), Say("It is sent."))
    page.goto(f"{crib.base}/chat/new")
    ask(page, "Call everyone.")

    asking = question(page)
    expect(asking.get_by_role("heading", name="Send this message?")).to_be_visible()
    message = asking.get_by_role("group", name="Message")
    expect(message).to_contain_text("#general in Garden friends")
    expect(message.locator("mark")).to_have_text("@everyone")
    expect(message).to_contain_text("This notifies everyone in the channel.")
    asking.get_by_role("button", name="Raw call").click()
    expect(asking.locator("pre")).to_contain_text("mention_everyone")
    asking.get_by_role("button", name="Allow once").click()

    expect(said(page, "It is sent.")).to_be_visible()
    [sent] = discord.channels[GENERAL].messages
    assert sent["content"] == "@everyone lunch is ready"


def test_an_email_is_shown_with_all_recipients_and_as_plain_text(
    crib: Crib, model: Vendor, new_page: Callable[[], Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    account = Account(name="work", provider="imap", user="ann@example.org", settings=CLOSED)
    crib.entry("mail", {"type": "inprocess", "module": "toolcrib.bundled.mail"}).write()
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    AccountStore.of_home(crib.home).add(account, "secret")
    given = {
        "to": ["Bob Brown <bob@example.org>", '"boss@example.org" <thief@example.net>'],
        "bcc": ["archive@example.org"],
        "subject": "Minutes\u200b",
        "body": BODY,
    }
    model.say(call(("mail__send_email", given)), Say("Not sent."))
    page = sign_in(new_page(), crib.sign_in_address(), "/chat/new")
    ask(page, "Send the minutes.")

    asking = question(page)
    expect(asking.get_by_role("heading", name="Send this email?")).to_be_visible()
    email = asking.get_by_role("group", name="Email")
    recipients = ["bob@example.org Bob Brown", "thief@example.net boss@example.org", "archive@example.org"]
    expect(email.get_by_role("listitem")).to_have_text([*recipients, "ann@example.org"])
    expect(email).to_contain_text("Minutes⟨U+200B⟩")
    text = email.get_by_role("region", name="Text of the email")
    expect(text).to_contain_text("<b>here</b> are the minutes.")
    assert "Hello,\n\n" in text.inner_text()
    expect(email).to_contain_text("63 lines")
    box = asking.get_by_role("group", name="Call")
    assert box.evaluate("it => it.scrollHeight > it.clientHeight")
    page.set_viewport_size(NARROW)
    assert faults_of_layout(page) == []
    assert look_over(page) == []
    asking.get_by_role("button", name="Show all").click()
    assert box.evaluate("it => it.scrollHeight === it.clientHeight")

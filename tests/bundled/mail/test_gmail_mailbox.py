"""The same tools on a mailbox reached by the Gmail API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tests.accounts.google_service import USER, Answer, google_service
from tests.bundled.mail.conftest import letter
from tests.bundled.mail.gmail_service import GmailService
from toolcrib.accounts import AccountStore
from toolcrib.accounts.google import access as access_module
from toolcrib.bundled.mail import create
from toolcrib.serverkit.server import ToolServer

MESSAGES = "/gmail/v1/users/me/messages"


class GmailDesk:
    def __init__(self, service: GmailService, server: ToolServer, files: Path) -> None:
        self.service, self.server, self.files = service, server, files

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is False, result["content"]
        found: dict[str, Any] = result["structuredContent"]
        return found

    async def failure(self, tool: str, **arguments: Any) -> str:
        result = await self.server.tools[tool].call(arguments)
        assert result["isError"] is True, result
        return str(result["content"][0]["text"])


@pytest.fixture
async def gmail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[GmailDesk]:
    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    monkeypatch.setattr(access_module, "FIRST_PAUSE", 0.001)
    async with google_service(GmailService()) as service:
        assert isinstance(service, GmailService)
        store = AccountStore.of_home(tmp_path)
        store.add(service.account(name="me"), service.credentials().to_secret())
        server = create([], tmp_path)
        yield GmailDesk(service, server, tmp_path / "files" / "mail")
        server.close()


async def test_messages_are_found_page_by_page_with_the_query_unchanged(gmail: GmailDesk) -> None:
    for number in range(5):
        gmail.service.put(letter(f"N{number} Grüße"), "INBOX", "UNREAD")
    query = "is:unread subject:Grüße"

    first = await gmail.call("search_emails", query=query, max_results=3)
    second = await gmail.call("search_emails", query=query, max_results=3, page=first["next_page"])

    assert [each["subject"][:2] for each in first["messages"] + second["messages"]] == [
        "N4",
        "N3",
        "N2",
        "N1",
        "N0",
    ]
    assert first["messages"][0]["snippet"] == "It's the beginning"
    assert first["messages"][0]["sender"] == "Bob Ray <bob@example.com>"
    assert first["estimated_total"] == 5
    assert second["next_page"] is None
    assert gmail.service.queries == [query, query]


async def test_a_message_is_read_with_its_thread_and_attachments(gmail: GmailDesk) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Bob <bob@example.com>", USER, "Files"
    message.set_content("Grüße", charset="iso-8859-1")
    message.add_alternative("<p>Grüße</p>", subtype="html")
    message.add_attachment(b"%PDF" * 10_000, maintype="application", subtype="pdf", filename="März.pdf")
    stored = gmail.service.put(message.as_bytes(), "INBOX", thread="t1")
    gmail.service.put(letter("Re: Files", From=USER), "SENT", thread="t1")

    read = await gmail.call("read_email", id=stored.id, save_attachments=True)
    found = await gmail.call("search_emails", query="subject:Files")

    assert [each["has_attachments"] for each in found["messages"]] == [False, True]
    assert (read["text"], read["thread_id"], read["labels"]) == ("Grüße", "t1", ["INBOX"])
    assert [each["sender"] for each in read["thread"]] == ["Bob <bob@example.com>", USER]
    (file,) = read["attachments"]
    assert (file["name"], file["size"]) == ("März.pdf", 40_000)
    assert Path(file["saved_as"]).read_bytes() == b"%PDF" * 10_000


async def test_a_reply_stays_in_gmails_thread(gmail: GmailDesk) -> None:
    stored = gmail.service.put(letter("Plan", Message_ID="<p@example.com>"), "INBOX", thread="t7")

    sent = await gmail.call("reply_to_email", id=stored.id, body="Fine")

    made = gmail.service.messages[sent["id"]]
    assert (made.thread, sent["thread_id"]) == ("t7", "t7")
    assert made.message["In-Reply-To"] == "<p@example.com>"
    assert made.message["References"] == "<p@example.com>"
    assert (made.message["Subject"], made.message["To"]) == ("Re: Plan", "Bob Ray <bob@example.com>")
    assert made.message["From"] == USER


async def test_a_message_is_sent_with_hidden_recipients_for_gmail_to_remove(gmail: GmailDesk) -> None:
    sent = await gmail.call(
        "send_email", to="bob@example.com", subject="Hi", body="Text", bcc="c@example.com"
    )

    assert gmail.service.messages[sent["id"]].message["Bcc"] == "c@example.com"


async def test_a_large_message_is_uploaded(gmail: GmailDesk) -> None:
    (gmail.files / "big.bin").write_bytes(b"\0" * 6_000_000)

    sent = await gmail.call(
        "send_email", to="bob@example.com", subject="Big", body="x", attachments=["big.bin"]
    )
    draft = await gmail.call("create_draft", body="x", attachments=["big.bin"])

    assert gmail.service.uploads == 2
    (file,) = gmail.service.messages[sent["id"]].message.iter_attachments()
    assert file.get_content() == b"\0" * 6_000_000
    assert gmail.service.messages[draft["id"]].labels == ["DRAFT"]


async def test_labels_are_made_added_and_removed(gmail: GmailDesk) -> None:
    one, two = gmail.service.put(letter("a"), "INBOX", "UNREAD"), gmail.service.put(letter("b"), "INBOX")
    taxes = gmail.service.label("Taxes")

    await gmail.call("modify_labels", ids=[one.id], add=["Taxes", "New", "new", "starred"], remove=["INBOX"])
    await gmail.call("modify_labels", ids=[one.id, two.id], add=["taxes"], remove=["UNREAD"])

    (new,) = [key for key, name in gmail.service.labels.items() if name == "New"]
    assert one.labels == [taxes, new, "STARRED"]
    assert two.labels == ["INBOX", taxes]
    said = await gmail.failure("modify_labels", ids=[one.id], remove=["Nothing"])
    assert "There is no label 'Nothing'" in said
    assert "New, Taxes" in said


async def test_labels_are_shown_by_name(gmail: GmailDesk) -> None:
    name = "Kunden/Müller"
    stored = gmail.service.put(letter("a"), "INBOX", "CATEGORY_PROMOTIONS", gmail.service.label(name))
    shown = ["INBOX", "category:promotions", name]

    found = await gmail.call("search_emails", query="")
    read = await gmail.call("read_email", id=stored.id)
    stored.labels.append(gmail.service.label("Made elsewhere"))
    again = await gmail.call("search_emails", query="")
    (changed,) = (await gmail.call("modify_labels", ids=[stored.id], add=["Neu"]))["messages"]
    (removed,) = (
        await gmail.call(
            "modify_labels", ids=stored.id, remove=["category:promotions", "kunden/mu\u0308ller", "Neu"]
        )
    )["messages"]

    assert found["messages"][0]["labels"] == read["labels"] == shown
    assert again["messages"][0]["labels"] == [*shown, "Made elsewhere"]
    assert changed["labels"] == [*shown, "Made elsewhere", "Neu"]
    assert removed["labels"] == ["INBOX", "Made elsewhere"]
    assert (await gmail.call("get_unread_count", label=name))["unread"] == 0
    for _ in range(3):
        await gmail.call("search_emails", query="")
    assert gmail.service.count("/gmail/v1/users/me/labels") <= 6  # one of them makes a label


@pytest.mark.parametrize("charset", ["iso-2022-jp", "shift_jis", "utf-8"])
async def test_text_is_read_although_gmail_leaves_its_old_label(gmail: GmailDesk, charset: str) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "bob@example.com", "Japanese"
    message.set_content("こんにちは世界", charset=charset, cte="base64")
    stored = gmail.service.put(message.as_bytes(), "INBOX")

    assert (await gmail.call("read_email", id=stored.id))["text"] == "こんにちは世界"


async def test_a_message_that_vanishes_does_not_fail_a_search(gmail: GmailDesk) -> None:
    kept, gone = gmail.service.put(letter("kept"), "INBOX"), gmail.service.put(letter("gone"), "INBOX")
    draft = gmail.service.put(letter("draft"), "DRAFT")
    gmail.service.after_list = lambda: (gmail.service.vanish(gone), gmail.service.edit_draft(draft))

    found = await gmail.call("search_emails", query="")
    changed = await gmail.call("modify_labels", ids=[kept.id, gone.id], add=["STARRED"])

    assert [each["subject"] for each in found["messages"]] == ["kept"]
    assert found["remarks"] == ["2 more matched, but were deleted or moved during the search."]
    assert kept.labels == ["INBOX", "STARRED"]
    assert "Gmail does not have this message" in changed["messages"][1]["error"]
    assert "Gmail does not have this message" in await gmail.failure(
        "modify_labels", ids=[gone.id], add=["STARRED"]
    )


async def test_an_attachment_that_vanishes_does_not_fail_the_reading(gmail: GmailDesk) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "bob@example.com", "Files"
    message.set_content("See the file")
    message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    stored = gmail.service.put(message.as_bytes(), "INBOX")
    gmail.service.before_attachment = lambda: gmail.service.vanish(stored)

    read = await gmail.call("read_email", id=stored.id, save_attachments=True)

    assert read["text"] == "See the file"
    assert read["attachments"][0]["saved_as"] is None
    assert "a.pdf was not saved: Gmail does not have this message" in read["remarks"][0]
    assert "The thread could not be read" in read["remarks"][1]
    assert not (gmail.files / "a.pdf").exists()


async def test_a_damaged_message_is_parsed_here(gmail: GmailDesk) -> None:
    raw = b"From: b@x.org\r\nSubject: a\r\nContent-Type: multipart/mixed\r\n\r\n--B\r\n\r\nfine\r\n--B--"
    stored = gmail.service.put(raw, "INBOX")

    read = await gmail.call("read_email", id=stored.id)

    assert (read["text"], len(read["remarks"])) == ("fine", 1)


async def test_unread_messages_are_counted_and_messages_trashed(gmail: GmailDesk) -> None:
    stored = gmail.service.put(letter("a"), "INBOX", "UNREAD")

    assert (await gmail.call("get_unread_count"))["unread"] == 1
    assert (await gmail.call("trash_email", id=stored.id))["subject"] == "a"
    assert stored.labels == ["UNREAD", "TRASH"]


async def test_an_expired_token_a_limit_and_a_fault_do_not_stop_a_call(gmail: GmailDesk) -> None:
    stored = gmail.service.put(letter("a", "Text"), "INBOX")
    await gmail.call("search_emails", query="")
    gmail.service.expire_access_tokens()
    await gmail.call("read_email", id=stored.id)
    gmail.service.planned = [
        Answer(429, headers={"Retry-After": "0"}),
        Answer(503),
        None,
        Answer(401),
    ]

    read = await gmail.call("read_email", id=stored.id)

    assert read["text"] == "Text"


async def test_a_send_is_not_repeated_after_a_fault(gmail: GmailDesk) -> None:
    gmail.service.put(letter("a"), "INBOX")
    await gmail.call("search_emails", query="")
    gmail.service.planned = [None]

    said = await gmail.failure("send_email", to="bob@example.com", subject="x", body="y")

    assert "may have been made" in said
    assert gmail.service.count(f"{MESSAGES}/send") == 1


async def test_a_revoked_sign_in_says_what_to_do(gmail: GmailDesk) -> None:
    gmail.service.revoke_everything()

    assert "toolcrib account add google me --replace" in await gmail.failure("search_emails", query="")


@pytest.mark.parametrize("bad", ["../profile", "a/b", "", "x y", "%2e"])
async def test_an_id_cannot_lead_to_another_resource(gmail: GmailDesk, bad: str) -> None:
    assert "is not the id of a message" in await gmail.failure("read_email", id=bad)


async def test_an_unknown_message_is_reported(gmail: GmailDesk) -> None:
    assert "Gmail does not have this message" in await gmail.failure("read_email", id="abc")

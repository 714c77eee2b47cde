"""The tools on a mailbox reached by IMAP, against dovecot and an SMTP server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage

import pytest

from tests.bundled.mail.conftest import Desk, letter
from tests.bundled.mail.servers import PASSWORD
from toolcrib.accounts import AccountStore


async def test_a_message_is_found_and_read_and_stays_unread(desk: Desk) -> None:
    desk.put(letter("Grüße aus Köln", "Wie geht es dir?"))

    (found,) = await desk.find("is:unread subject:Grüße")
    read = await desk.call("read_email", id=found["id"])

    assert found["sender"] == "Bob Ray <bob@example.com>"
    assert found["snippet"] == "Wie geht es dir?"
    assert found["labels"] == ["INBOX", "UNREAD"]
    assert read["text"] == "Wie geht es dir?"
    assert read["subject"] == "Grüße aus Köln"
    assert await desk.call("get_unread_count") == {"account": "work", "label": "INBOX", "unread": 1}


async def test_a_sent_message_arrives_and_a_copy_is_kept(desk: Desk) -> None:
    (desk.files / "report.pdf").write_bytes(b"%PDF-1.7 data")

    sent = await desk.call(
        "send_email",
        to=["Bob Ray <bob@example.com>", "carla@bücher.example"],
        subject="Bericht für März",
        body="Hällo,\n\nanbei.\n",
        cc="dora@example.com",
        bcc=["hidden@example.com"],
        attachments=["report.pdf"],
    )

    (received,) = desk.sink.received
    assert desk.sink.signed_in == [desk.user]
    assert received.sender == desk.user
    assert received.recipients == [
        "bob@example.com",
        "carla@xn--bcher-kva.example",
        "dora@example.com",
        "hidden@example.com",
    ]
    message = received.message
    assert message["Bcc"] is None
    assert b"hidden" not in received.data
    assert (message["Subject"], message["From"]) == ("Bericht für März", f"Ann Lee <{desk.user}>")
    assert message.get_body().get_content().strip() == "Hällo,\n\nanbei."  # type: ignore[union-attr]
    (file,) = message.iter_attachments()
    assert (file.get_filename(), file.get_content()) == ("report.pdf", b"%PDF-1.7 data")
    copy = await desk.call("read_email", id=sent["id"])
    assert copy["labels"] == ["SENT"]
    assert copy["bcc"] == ["hidden@example.com"]
    assert copy["attachments"][0]["name"] == "report.pdf"


async def test_a_reply_keeps_its_thread(desk: Desk) -> None:
    desk.put(
        letter(
            "Re: Plan",
            "What do you think?",
            Message_ID="<three@example.com>",
            References="<one@example.com> <two@example.com>",
            In_Reply_To="<two@example.com>",
            Reply_To="Office <office@example.com>",
            To=f"{desk.user}, carla@example.com",
            Cc="bob@example.com, dora@example.com",
        )
    )
    (original,) = await desk.find("subject:Plan")

    await desk.call("reply_to_email", id=original["id"], body="Good.", reply_all=True, quote=True)

    (received,) = desk.sink.received
    message = received.message
    assert message["Subject"] == "Re: Plan"
    assert message["In-Reply-To"] == "<three@example.com>"
    assert message["References"] == "<one@example.com> <two@example.com> <three@example.com>"
    assert message["To"] == "Office <office@example.com>"
    assert message["Cc"] == "carla@example.com, bob@example.com, dora@example.com"
    assert desk.user not in received.recipients
    assert (
        "Good.\n\nOn Mon, 02 Nov 2026 at 10:00, Bob Ray <bob@example.com> wrote:\n> What do you think?"
        in (message.get_content())
    )
    client = desk.imap()
    client.select_folder("INBOX")
    assert len(client.search(["ANSWERED"])) == 1
    thread = (await desk.call("read_email", id=original["id"]))["thread"]
    assert [each["sender"] for each in thread] == ["Bob Ray <bob@example.com>", f"Ann Lee <{desk.user}>"]


async def test_a_reply_to_ones_own_message_goes_to_its_recipients(desk: Desk) -> None:
    desk.put(letter("Plan", From=desk.user, To="bob@example.com"), folder="Sent")
    (own,) = await desk.find("in:sent")

    result = await desk.call("reply_to_email", id=own["id"], body="One more thing")

    assert (result["to"], result["subject"]) == (["bob@example.com"], "Re: Plan")


async def test_a_reply_only_to_oneself_is_refused(desk: Desk) -> None:
    desk.put(letter("Note", From=desk.user, To=desk.user))
    (note,) = await desk.find("subject:Note")

    said = await desk.failure("reply_to_email", id=note["id"], body="x", reply_all=True)

    assert "no one to reply to" in said
    assert desk.sink.received == []


async def test_a_draft_is_stored_and_not_sent(desk: Desk) -> None:
    desk.put(letter("Plan", Message_ID="<p@example.com>"))
    (plan,) = await desk.find("subject:Plan")

    draft = await desk.call("create_draft", body="Later", reply_to_id=plan["id"])

    assert desk.sink.received == []
    assert (draft["to"], draft["subject"]) == (["Bob Ray <bob@example.com>"], "Re: Plan")
    client = desk.imap()
    client.select_folder("Drafts")
    assert client.search(["DRAFT", "HEADER", "In-Reply-To", "<p@example.com>"]) != []
    assert (await desk.call("read_email", id=draft["id"]))["labels"] == ["DRAFT"]


async def test_a_trashed_message_is_in_the_trash_and_its_old_id_still_finds_it(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    trashed = await desk.call("trash_email", id=offer["id"])

    assert await desk.find("subject:Offer") == []
    assert [each["id"] for each in await desk.find("subject:Offer in:trash")] == [trashed["id"]]
    assert [each["labels"] for each in await desk.find("subject:Offer in:anywhere")] == [["TRASH", "UNREAD"]]
    again = await desk.call("read_email", id=offer["id"])
    assert again["id"] == trashed["id"]


async def test_a_message_that_is_gone_is_reported(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")
    client = desk.imap()
    client.select_folder("INBOX")
    client.delete_messages(client.search())
    client.expunge()

    assert "no longer exists" in await desk.failure("read_email", id=offer["id"])
    assert "is not the id of a message" in await desk.failure("read_email", id="nonsense")
    for bad in ("IN%0ABOX:1:1:x", "INBOX:²:1:x", ":1:1:x", "INBOX:1:99999999999:x", "x" * 3000):
        assert "is not the id of a message" in await desk.failure("read_email", id=bad)


@pytest.mark.parametrize(
    ("add", "remove", "labels"),
    [
        (["STARRED"], ["UNREAD"], ["INBOX", "STARRED"]),
        (["IMPORTANT"], [], ["INBOX", "UNREAD", "IMPORTANT"]),
        ([], ["INBOX"], ["Archive", "UNREAD"]),
        (["SPAM"], [], ["SPAM", "UNREAD"]),
        (["Invoices"], [], ["INBOX", "UNREAD", "Invoices"]),
        (["to do"], [], ["INBOX", "UNREAD", "to_do"]),
        (["Projekte/Köln"], ["INBOX"], ["Projekte/Köln", "UNREAD"]),
    ],
)
async def test_labels_are_flags_keywords_and_folders(
    desk: Desk, add: list[str], remove: list[str], labels: list[str]
) -> None:
    desk.imap().create_folder("Projekte/Köln")
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    (changed,) = (await desk.call("modify_labels", ids=[offer["id"]], add=add, remove=remove))["messages"]

    read = await desk.call("read_email", id=changed["id"])
    assert changed["labels"] == labels
    assert read["labels"] == labels
    assert read["id"] == changed["id"]


async def test_labels_are_removed_again(desk: Desk) -> None:
    desk.put(letter("Offer"), flags=(b"\\Flagged", b"\\Seen", b"Invoices"))
    (offer,) = await desk.find("label:Invoices is:starred is:read")

    await desk.call("modify_labels", ids=offer["id"], add=["UNREAD"], remove=["STARRED", "Invoices"])

    (offer,) = await desk.find("subject:Offer")
    assert offer["labels"] == ["INBOX", "UNREAD"]
    await desk.call("trash_email", id=offer["id"])
    (changed,) = (await desk.call("modify_labels", ids=[offer["id"]], remove=["TRASH"]))["messages"]
    assert changed["labels"] == ["INBOX", "UNREAD"]


async def test_only_the_trash_tool_moves_messages_to_the_trash(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    for label in ("Trash", "\\Trash", " trash"):
        assert "Use trash_email" in await desk.failure("modify_labels", ids=[offer["id"]], add=[label])
    assert await desk.find("in:trash") == []


async def test_one_missing_message_does_not_stop_the_others(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    result = await desk.call("modify_labels", ids=["INBOX:1:999:x@y", offer["id"]], add=["STARRED"])

    missing, changed = result["messages"]
    assert "no longer exists" in missing["error"]
    assert changed["labels"] == ["INBOX", "UNREAD", "STARRED"]


async def test_unread_messages_are_counted_by_label(desk: Desk) -> None:
    desk.put(letter("One"), flags=(b"Invoices",))
    desk.put(letter("Two"), flags=(b"\\Seen", b"Invoices"))
    desk.put(letter("Three"), folder="Junk")

    counts = {
        label: (await desk.call("get_unread_count", label=label))["unread"]
        for label in ("INBOX", "SPAM", "Invoices", "none")
    }

    assert counts == {"INBOX": 1, "SPAM": 1, "Invoices": 1, "none": 0}


async def test_pages_continue_where_the_last_one_ended(desk: Desk) -> None:
    for number in range(7):
        folder = "Sent" if number % 2 else "INBOX"
        desk.put(letter(f"N{number}"), folder, when=datetime(2026, 11, 1 + number, tzinfo=UTC))

    subjects, page = [], None
    while True:
        result = await desk.call("search_emails", query="subject:N", max_results=3, page=page)
        subjects += [each["subject"] for each in result["messages"]]
        assert result["estimated_total"] == 7
        page = result["next_page"]
        if page is None:
            break

    assert subjects == [f"N{number}" for number in reversed(range(7))]
    for bad in ("x", "-1", "²", "9" * 20):
        assert "is not a page" in await desk.failure("search_emails", query="", page=bad)


async def test_attachments_are_saved_under_safe_names_and_never_replace_a_file(desk: Desk) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "bob@example.com", "Files"
    message.set_content("See attached.")
    message.add_attachment(b"one", maintype="application", subtype="pdf", filename="../../etc/Grüße.pdf")
    message.add_attachment(b"two", maintype="text", subtype="plain", filename=".bashrc")
    message.add_attachment(b"three", maintype="application", subtype="pdf", filename="..\\Grüße.pdf")
    desk.put(message.as_bytes())
    (found,) = await desk.find("has:attachment filename:pdf")

    read = await desk.call("read_email", id=found["id"], save_attachments=True)
    again = await desk.call("read_email", id=found["id"], save_attachments=["2"])

    saved = [each["saved_as"] for each in read["attachments"]]
    assert saved == [str(desk.files / name) for name in ("Grüße.pdf", "bashrc", "Grüße (2).pdf")]
    assert (desk.files / "Grüße (2).pdf").read_bytes() == b"three"
    assert [each["size"] for each in read["attachments"]] == [3, 3, 5]
    assert [each["saved_as"] for each in again["attachments"]] == [None, str(desk.files / "bashrc (2)"), None]
    assert (desk.files / "bashrc").stat().st_mode & 0o077 == 0
    assert "There is no attachment" in await desk.failure(
        "read_email", id=found["id"], save_attachments=["9"]
    )


async def test_files_outside_the_folder_are_not_attached(desk: Desk) -> None:
    (desk.home / "secret.txt").write_text("SECRET")
    (desk.files / "link").symlink_to("../../secret.txt")

    for path in ("../../secret.txt", str(desk.home / "secret.txt"), "link", "missing"):
        await desk.failure("send_email", to="bob@example.com", subject="x", body="y", attachments=[path])

    assert desk.sink.received == []


async def test_a_read_only_account_refuses_changes(desk: Desk) -> None:
    desk.put(letter("Offer"))
    AccountStore.of_home(desk.home).add(replace(desk.account, read_only=True), PASSWORD, replace=True)
    (offer,) = await desk.find("subject:Offer")

    said = await desk.failure("send_email", to="bob@example.com", subject="x", body="y")

    assert "is read-only" in said
    assert "toolcrib account add imap work --replace" in said
    for tool, arguments in (
        ("trash_email", {"id": offer["id"]}),
        ("modify_labels", {"ids": [offer["id"]], "add": ["STARRED"]}),
        ("create_draft", {"body": "x"}),
        ("reply_to_email", {"id": offer["id"], "body": "x"}),
    ):
        assert "is read-only" in await desk.failure(tool, **arguments)


async def test_a_long_text_is_read_in_parts(desk: Desk) -> None:
    lines = [f"Line {number} of a long message." for number in range(2000)]
    desk.put(letter("Long", "\r\n".join(lines)))
    (long,) = await desk.find("subject:Long")

    first = await desk.call("read_email", id=long["id"])
    texts = [
        (await desk.call("read_email", id=long["id"], part=part))["text"]
        for part in range(1, first["parts"] + 1)
    ]

    assert len(first["text"]) <= 20_000
    assert "".join(texts).split("\n") == lines
    assert "The text has 3 parts" in await desk.failure("read_email", id=long["id"], part=9)

"""Large mailboxes and large files."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.mail.conftest import Desk

BIG = 50_000
HOUR = 3600
MEGABYTE = 1_000_000


def fill(desk: Desk, count: int) -> None:
    """Write messages as a delivery agent does, one file each; the last one is the newest."""
    folder = desk.dovecot.maildir(desk.user)
    for name in ("cur", "new", "tmp"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    start = int(time.time()) - count * HOUR
    for number in range(count):
        seen = "S" if number % 10 else ""
        text = (
            f"From: Sender {number % 97} <s{number % 97}@example.com>\r\nTo: {desk.user}\r\n"
            f"Subject: Message {number} of the big mailbox\r\nMessage-ID: <big{number}@example.com>\r\n"
            f"Date: Mon, 02 Nov 2026 10:00:00 +0000\r\n\r\nNumber {number}, word{number % 1000}.\r\n"
        )
        file = folder / "cur" / f"{start + number * HOUR}.M{number}.host:2,{seen}"
        file.write_bytes(text.encode())
        os.utime(file, (start + number * HOUR, start + number * HOUR))
    desk.dovecot.own(folder.parent)
    desk.imap().select_folder("INBOX")  # numbers them before anything else arrives


@pytest.mark.acceptance
async def test_a_mailbox_of_fifty_thousand_messages_is_searched_on_the_server(desk: Desk) -> None:
    fill(desk, BIG)
    took: dict[str, float] = {}

    async def timed(name: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = await work()
        took[name] = time.perf_counter() - begin
        return result

    first = await timed("first use", lambda: desk.call("search_emails", query="in:inbox", max_results=20))
    again = await timed("page", lambda: desk.call("search_emails", query="in:inbox", max_results=20))
    far = await timed("page 40000", lambda: desk.call("search_emails", query="in:inbox", page="40000"))
    unread = await timed("unread", lambda: desk.call("search_emails", query="is:unread"))
    sender = await timed("from", lambda: desk.call("search_emails", query="from:s13@example.com -is:read"))
    await timed("text", lambda: desk.call("search_emails", query="word77"))
    files = await timed("has:attachment", lambda: desk.call("search_emails", query="has:attachment"))
    count = await timed("count", lambda: desk.call("get_unread_count"))
    newest = again["messages"][0]
    read = await timed("read", lambda: desk.call("read_email", id=newest["id"]))
    moved = await timed("trash", lambda: desk.call("trash_email", id=newest["id"]))
    found = await timed("moved", lambda: desk.call("read_email", id=newest["id"]))

    print({name: round(seconds, 2) for name, seconds in took.items()})
    assert first["estimated_total"] == far["estimated_total"] == BIG
    assert newest["subject"] == f"Message {BIG - 1} of the big mailbox"
    assert far["messages"][0]["subject"] == f"Message {BIG - 40_001} of the big mailbox"
    assert unread["estimated_total"] == count["unread"] == BIG // 10
    assert sender["estimated_total"] == len([n for n in range(BIG) if n % 97 == 13 and n % 10 == 0])
    assert files["messages"] == []
    assert read["text"].startswith(f"Number {BIG - 1},")
    assert found["id"] == moved["id"]


async def test_only_the_newest_messages_are_checked_for_attachments(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcrib.bundled.mail import imap_search

    monkeypatch.setattr(imap_search, "CHUNK", 10)
    monkeypatch.setattr(imap_search, "MAX_CHECKED", 30)
    fill(desk, 60)
    message = EmailMessage()
    message["Subject"] = "With file"
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="a.pdf")
    desk.put(message.as_bytes(), when=datetime.now(UTC))

    found = await desk.call("search_emails", query="has:attachment")

    assert [each["subject"] for each in found["messages"]] == ["With file"]
    assert found["estimated_total"] is None
    assert "newest 30 messages" in found["remarks"][0]


@pytest.mark.parametrize("megabytes", [5, pytest.param(50, marks=pytest.mark.acceptance)])
async def test_a_large_attachment_is_sent_and_saved(desk: Desk, megabytes: int) -> None:
    data = random.Random(1).randbytes(megabytes * MEGABYTE)
    (desk.files / "film.bin").write_bytes(data)

    sent = await desk.call("send_email", to="b@x.org", subject="Film", body="x", attachments=["film.bin"])
    read = await desk.call("read_email", id=sent["id"], save_attachments=True)

    (file,) = read["attachments"]
    assert (file["name"], file["size"]) == ("film.bin", len(data))
    assert file["saved_as"] == str(desk.files / "film (2).bin")
    assert digest(Path(file["saved_as"]).read_bytes()) == digest(data)
    assert len(desk.sink.received[0].data) > megabytes * MEGABYTE * 4 // 3


async def test_an_attachment_beyond_the_limit_is_neither_sent_nor_saved(desk: Desk) -> None:
    from toolcrib.bundled.mail import create

    small = create(["--max-attachment", "1"], desk.home)
    (desk.files / "big.bin").write_bytes(b"\0" * (2 * MEGABYTE))
    message = EmailMessage()
    message["Subject"] = "Big"
    message.add_attachment(b"\0" * (2 * MEGABYTE), maintype="application", subtype="pdf", filename="in.pdf")
    desk.put(message.as_bytes())
    (found,) = await desk.find("subject:Big")

    arguments = {"to": "bob@example.com", "subject": "x", "body": "y", "attachments": ["big.bin"]}
    sending = await small.tools["send_email"].call(arguments)
    saving = await small.tools["read_email"].call({"id": found["id"], "save_attachments": True})
    small.close()

    assert "'big.bin' exceeds the limit of 1 MB" in sending["content"][0]["text"]
    assert "'in.pdf' exceeds the limit of 1 MB" in saving["content"][0]["text"]
    assert not (desk.files / "in.pdf").exists()
    assert desk.sink.received == []


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

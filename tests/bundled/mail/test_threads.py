"""A thread is found whole, wherever its messages are and whichever of them is read."""

from __future__ import annotations

import pytest

from tests.bundled.mail.conftest import Desk, letter
from toolcrib.bundled.mail import imap_search, mailbox

CHAIN = {
    "m1": {},
    "m2": {"In_Reply_To": "<m1@x.org>", "References": "<m1@x.org>"},
    "m3": {"In_Reply_To": "<m2@x.org>"},
    "m4": {"References": "<m3@x.org>"},
    "m5": {"In_Reply_To": '"your mail of Monday" <m4@x.org>', "References": "<gone@x.org>"},
    "m6": {"In_Reply_To": "<gone@x.org>"},
    "m7": {"References": "<m6@x.org>", "Subject": "Something else"},
    "m8": {"In_Reply_To": "m7@x.org"},
}
FOLDERS = ("INBOX", "Sent", "Archive/2024", "Kunden/Müller", "INBOX", "Drafts", "Sent", "INBOX")


def place_thread(desk: Desk) -> None:
    client = desk.imap()
    for folder in ("Archive/2024", "Kunden/Müller", "Empty"):
        client.create_folder(folder)
    for day, ((name, fields), folder) in enumerate(zip(CHAIN.items(), FOLDERS, strict=True), 1):
        more = {"Date": f"Mon, {day:02} Jun 2020 10:00:00 +0000", "Message_ID": f"<{name}@x.org>", **fields}
        client.append(folder, letter(f"Thread {name}", **more))
    client.append("INBOX", letter("Thread m1", Message_ID="<other@x.org>"))
    client.append("INBOX", letter("Similar", References="<xm1@x.org>", Message_ID="<m1@x.org.example>"))
    client.append("Archive/2024", letter("Thread m1", Message_ID="<m1@x.org>"))  # a copy
    client.append("Trash", letter("Trashed", References="<m1@x.org>"))


@pytest.mark.parametrize("name", ["m1", "m4", "m6", "m7"])
async def test_a_thread_is_whole_from_each_of_its_messages(desk: Desk, name: str) -> None:
    place_thread(desk)
    found = next(
        each
        for each in await desk.find(f"rfc822msgid:{name}@x.org")
        if each["id"].endswith(f":{name}@x.org") and (name != "m1" or each["labels"][0] == "INBOX")
    )

    read = await desk.call("read_email", id=found["id"])

    ids = [each["id"].rpartition(":")[2] for each in read["thread"]]
    assert ids == [f"{each}@x.org" for each in CHAIN]
    assert found["id"] in [each["id"] for each in read["thread"]]
    assert read["remarks"] == []


async def test_a_thread_that_is_not_searched_to_its_end_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_thread(desk)
    (found,) = await desk.find("rfc822msgid:m7@x.org")
    monkeypatch.setattr(imap_search, "MAX_SEARCHES", 2)

    read = await desk.call("read_email", id=found["id"])

    assert "The thread may have more messages" in read["remarks"][0]
    assert 0 < len(read["thread"]) < 7


async def test_of_a_long_thread_the_newest_messages_are_listed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_thread(desk)
    (found,) = await desk.find("rfc822msgid:m7@x.org")
    monkeypatch.setattr(mailbox, "MAX_THREAD", 3)

    read = await desk.call("read_email", id=found["id"])

    assert [each["subject"] for each in read["thread"]] == ["Thread m6", "Something else", "Thread m8"]
    assert read["remarks"] == ["Of 8 messages of the thread, the newest 3 are listed."]

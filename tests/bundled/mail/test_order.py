"""Search results are in the order of dates, whatever order the messages arrived in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.bundled.mail.conftest import Desk, account_for, letter, use
from tests.bundled.mail.servers import relay, running_dovecot
from toolcrib.bundled.mail import imap_search

NOW = datetime.now(UTC).replace(microsecond=0)
NO_SORT = "imap_capability = IMAP4rev1 SASL-IR LITERAL+ SPECIAL-USE UIDPLUS MOVE"


@pytest.fixture(scope="module", params=["sorts", "cannot sort", "refuses to sort"])
def sorting(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def desk_of(desk: Desk, sorting: str) -> Iterator[Desk]:
    """A mailbox on a server that sorts, does not offer to, or offers it and fails."""
    with ExitStack() as stack:
        if sorting == "cannot sort":
            desk.dovecot = stack.enter_context(running_dovecot(NO_SORT))
            use(desk, account_for(desk.user, desk.dovecot.port, desk.sink.port))
        if sorting == "refuses to sort":
            refused = relay(desk.dovecot.port, change=lambda data: data.replace(b"SORT (", b"SORT (NO"))
            port, _ = stack.enter_context(refused)
            use(desk, account_for(desk.user, port, desk.sink.port))
        yield desk
        desk.closing.close()


def dated(subject: str, days: float, **more: str) -> bytes:
    """A message that was sent some days ago."""
    return letter(subject, Date=format_datetime(NOW - timedelta(days=days)), **more)


async def all_pages(desk: Desk, query: str, size: int = 2) -> list[str]:
    subjects, page = [], None
    for _ in range(50):
        result = await desk.call("search_emails", query=query, max_results=size, page=page)
        subjects += [each["subject"] for each in result["messages"]]
        page = result["next_page"]
        if page is None:
            return subjects
    raise AssertionError("The pages do not end.")


async def test_the_newest_message_is_first_in_whatever_order_they_arrived(desk_of: Desk) -> None:
    for days in (3, 400, 1, 0, 90, 2):
        desk_of.put(dated(f"D{days:03}", days))

    assert await all_pages(desk_of, "in:inbox") == ["D000", "D001", "D002", "D003", "D090", "D400"]
    assert await all_pages(desk_of, "subject:D from:bob", 4) == await all_pages(desk_of, "in:inbox")


async def test_no_folder_hides_a_newer_message_of_another(desk_of: Desk) -> None:
    client = desk_of.imap()
    client.create_folder("Old/Köln")
    for number in range(6):
        client.append("Old/Köln", dated(f"N{number:02}", number))  # the newest arrived first
        client.append("INBOX", dated(f"N{number + 10:02}", number + 10))
        client.append("Sent", dated(f"N{number + 20:02}", number + 20))

    in_order = [f"N{number:02}" for tens in (0, 10, 20) for number in range(tens, tens + 6)]

    assert await all_pages(desk_of, "subject:N") == in_order
    assert await all_pages(desk_of, "subject:N", 7) == in_order


async def test_without_a_date_the_time_of_arrival_counts(desk_of: Desk) -> None:
    desk_of.put(dated("Yesterday", 1))
    desk_of.put(letter("No date", Date=""), when=NOW - timedelta(days=2))
    desk_of.put(letter("Bad date", Date="Tue, 45 Foo"), when=NOW - timedelta(hours=2))
    desk_of.put(letter("Elsewhere", Date=""), "Sent", when=NOW - timedelta(days=3))

    assert await all_pages(desk_of, "in:inbox") == ["Bad date", "Yesterday", "No date"]
    assert await all_pages(desk_of, "") == ["Bad date", "Yesterday", "No date", "Elsewhere"]


async def test_messages_of_one_second_keep_their_order_on_all_pages(desk_of: Desk) -> None:
    for number in range(7):
        desk_of.put(dated(f"N{number}", 0), "Sent" if number in (2, 5) else "INBOX", when=NOW)

    small, large = await all_pages(desk_of, "subject:N", 2), await all_pages(desk_of, "subject:N", 50)

    assert small == large
    assert sorted(small) == [f"N{number}" for number in range(7)]
    assert await all_pages(desk_of, "in:inbox", 2) == ["N6", "N4", "N3", "N1", "N0"]


async def test_limits_leave_out_the_oldest_by_date(desk_of: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imap_search, "MAX_SEARCHED", 3)
    monkeypatch.setattr(imap_search, "CHUNK", 2)
    monkeypatch.setattr(imap_search, "MAX_CHECKED", 2)
    file = b'Content-Type: application/pdf; name="a.pdf"\r\nContent-Disposition: attachment\r\nSubject'
    for days in (0, 5, 1, 4, 2, 3, 6):
        desk_of.put(dated(f"D{days}", days).replace(b"Subject", file, 1))

    assert await all_pages(desk_of, "in:inbox") == ["D0", "D1", "D2", "D3", "D4", "D5", "D6"]
    (first,) = await desk_of.find("has:attachment", max_results=1)
    assert first["subject"] == "D0"
    monkeypatch.setattr(imap_search, "MAX_SEARCHED", 100)
    found = await desk_of.call("search_emails", query="filename:*.pdf", max_results=5)
    assert [each["subject"] for each in found["messages"]] == ["D0", "D1"]
    assert "only the newest 2 messages" in found["remarks"][0]


async def test_of_many_messages_the_newest_by_date_are_first(
    desk_of: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imap_search, "MAX_DATED", 5)
    for days in (1, 100, 101, 102, 103, 104, 2, 105, 106):
        desk_of.put(dated(f"D{days:03}", days), when=NOW - timedelta(days=days))
    first = await desk_of.call("search_emails", query="in:inbox", max_results=1)
    for days in (50, 0, 51):
        desk_of.put(dated(f"D{days:03}", days))  # all of them arrived today
    by_date = sorted(each["subject"] for each in await desk_of.find("in:inbox", max_results=50))

    assert [each["subject"] for each in first["messages"]] == ["D001"]
    assert (first["estimated_total"], first["next_page"], first["remarks"]) == (9, "1", [])
    assert await all_pages(desk_of, "in:inbox") == await all_pages(desk_of, "in:inbox", 20) == by_date


async def test_messages_that_were_deleted_meanwhile_are_left_out_with_a_remark(desk: Desk) -> None:
    for days in range(5):
        desk.put(dated(f"D{days}", days))
    once = [True]

    def deleting(data: bytes) -> bytes:
        if b"FETCH" in data and once:
            once.clear()
            other = desk.imap()
            other.select_folder("INBOX")
            other.delete_messages(other.search(["SUBJECT", "D1"]))
            other.expunge()
        return data

    with relay(desk.dovecot.port, change=deleting) as (port, _):
        use(desk, account_for(desk.user, port, desk.sink.port))
        first = await desk.call("search_emails", query="in:inbox", max_results=3)
        second = await desk.call("search_emails", query="in:inbox", page=first["next_page"])

    assert [each["subject"] for each in first["messages"] + second["messages"]] == ["D0", "D2", "D3", "D4"]
    assert re.match(r"1 more matched, but were deleted or moved", first["remarks"][0])
    assert second["remarks"] == []


async def test_a_place_that_does_not_exist_is_named(desk: Desk) -> None:
    desk.put(letter("Day"), when=datetime(2026, 3, 2, tzinfo=UTC))

    for query in ("in:TYPO", "label:typo", "in:snoozed"):
        found = await desk.call("search_emails", query=query)
        assert found["messages"] == []
        assert f"No folder is called {query.partition(':')[2]!r}. Folders: INBOX, " in found["remarks"][0]
    assert len(await desk.find("after:03/02/2026 before:3/3/2026")) == 1


async def test_a_message_that_is_deleted_while_it_is_read_leaves_no_part_of_a_file(desk: Desk) -> None:
    file = b'Content-Type: application/pdf; name="a.pdf"\r\nContent-Disposition: attachment\r\nSubject'
    desk.put(letter("Subject", "%PDF").replace(b"Subject", file, 1))
    (found,) = await desk.find("")

    def deleting(data: bytes) -> bytes:
        if b"BODY.PEEK[1]" in data:
            other = desk.imap()
            other.select_folder("INBOX")
            other.delete_messages(other.search())
            other.expunge()
        return data

    with relay(desk.dovecot.port, change=deleting) as (port, _):
        use(desk, account_for(desk.user, port, desk.sink.port))
        read = await desk.call("read_email", id=found["id"], save_attachments=True)

    assert read["attachments"][0]["saved_as"] is None
    assert "a.pdf was not saved: The message" in read["remarks"][1]
    assert list(desk.files.iterdir()) == []

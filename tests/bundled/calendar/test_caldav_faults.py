"""Damaged data, conflicts and faults of a CalDAV server end in clear answers, and lose nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.calendar.conftest import ZONE, Diary
from tests.bundled.calendar.radicale_server import PASSWORD, CalendarUser, Radicale, calendar_data, vevent
from toolcrib.accounts import AccountStore
from toolcrib.bundled.calendar import create

GOOD = vevent("good", "DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "SUMMARY:Good")
DAMAGED = {
    "no start": vevent("bad", "SUMMARY:Bad"),
    "invalid start": vevent("bad", "SUMMARY:Bad", "DTSTART:2026-11-20"),
    "broken line": vevent("bad", "SUMMARY:Bad", "DTSTART:20261120T100000Z", "this is not a property"),
    "unknown zone": vevent("bad", "SUMMARY:Bad", "DTSTART;TZID=Mars/Olympus:20261120T100000"),
    "bad rule": vevent("bad", "SUMMARY:Bad", "DTSTART:20261120T100000Z", "RRULE:FREQ=SOMETIMES"),
    "end before start": vevent("bad", "SUMMARY:Bad", "DTSTART:20261120T100000Z", "DTEND:20261119T100000Z"),
    "date and time": vevent("bad", "SUMMARY:Bad", "DTSTART;VALUE=DATE:20261120", "DTEND:20261120T100000Z"),
    "giant description": vevent(
        "bad", "SUMMARY:Bad", "DTSTART:20261120T100000Z", f"DESCRIPTION:{'x' * 2_000_000}"
    ),
    "unclosed": "BEGIN:VEVENT\r\nUID:bad\r\nSUMMARY:Bad\r\nDTSTART:20261120T100000Z",
    "not a calendar": "hello",
    "year 0": vevent("bad", "SUMMARY:Bad", "DTSTART:00000000T000000Z"),
    "bad exdate": vevent("bad", "DTSTART:20261120T100000Z", "RRULE:FREQ=DAILY;COUNT=2", "EXDATE:tomorrow"),
    "attendee without address": vevent("bad", "DTSTART:20261120T100000Z", "ATTENDEE;CN=:", "ORGANIZER:x"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_one_damaged_event_does_not_hide_the_others(damage: str) -> None:
    """As a server with less care than Radicale would send it."""
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from toolcrib.accounts.dav_xml import read_multistatus
    from toolcrib.bundled.calendar.caldav import read_listing
    from toolcrib.bundled.calendar.model import CalendarInfo, TimeWindow

    zone = ZoneInfo(ZONE)
    window = TimeWindow(datetime(2026, 11, 20, tzinfo=zone), datetime(2026, 11, 21, tzinfo=zone))
    items = read_multistatus(multistatus(calendar_data(DAMAGED[damage]), calendar_data(GOOD)))

    listing = read_listing(items, CalendarInfo(id="work", name="Work"), window, "", ())

    assert "Good" in [event.title for event in listing.events]
    assert all(len(event.description) <= 100_000 for event in listing.events)


def multistatus(*objects: str) -> bytes:
    items = "".join(
        f"<d:response><d:href>/work/{number}.ics</d:href><d:propstat><d:prop><d:getetag>1</d:getetag>"
        f"<c:calendar-data>{data}</c:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>"
        "</d:response>"
        for number, data in enumerate(objects)
    )
    names = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"'
    return f"<d:multistatus {names}>{items}</d:multistatus>".encode()


def test_invalid_utf8_and_control_characters_in_the_answer_are_read() -> None:
    from toolcrib.accounts.dav_xml import read_multistatus

    answer = multistatus(calendar_data(GOOD)).replace(b"Good", b"G\xff\x01od")

    (item,) = read_multistatus(answer)

    assert "SUMMARY:G�od" in item.text("c:calendar-data")


@pytest.mark.parametrize(
    "content", [b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>", b"<html/>", b"not xml", b""]
)
def test_an_answer_that_is_not_webdav_is_refused(content: bytes) -> None:
    from toolcrib.accounts.dav_xml import read_multistatus
    from toolcrib.errors import CallFailed

    with pytest.raises(CallFailed):
        read_multistatus(content)


def test_an_event_with_unreadable_lines_is_not_rewritten() -> None:
    odd = vevent(
        "bad", "DTSTART:20261120T100000Z", "DTEND:20261120T110000Z", "SUMMARY:Bad", "not a property at all"
    )
    data = calendar_data(odd)
    from toolcrib.bundled.calendar.caldav import StoredObject

    assert StoredObject("u", "e", data).loses_lines
    assert not StoredObject("u", "e", calendar_data(GOOD)).loses_lines


async def test_a_change_by_someone_else_is_kept(diary: Diary, radicale: Radicale) -> None:
    """The other change arrives between our reading and our writing; ours is then made on top of it."""
    diary.user.put(
        "work", "x", vevent("x", "DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "SUMMARY:A")
    )
    (event,) = await diary.events("2026-11-20", "2026-11-20")

    def interfere(method: str, path: str) -> None:
        if method == "PUT":
            radicale.before.clear()
            changed = vevent(
                "x", "DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "SUMMARY:A", "LOCATION:Room 7"
            )
            answer = diary.user.request("PUT", "work/x.ics", content=calendar_data(changed).encode())
            assert answer.status_code == 204

    radicale.before.append(interfere)
    changed = await diary.call("update_event", id=event["id"], title="B")

    assert (changed["event"]["title"], changed["event"]["location"]) == ("B", "Room 7")
    stored = diary.user.stored("work", "x")
    assert "SUMMARY:B" in stored
    assert "LOCATION:Room 7" in stored


async def test_endless_conflicts_are_reported(diary: Diary, radicale: Radicale) -> None:
    made = await diary.call("create_event", title="A", start="2026-11-20T09:00")
    radicale.before.append(lambda method, path: ("412 Precondition Failed", {}) if method == "PUT" else None)

    assert "Someone else changed" in await diary.refusal("update_event", id=made["event"]["id"], title="B")


async def test_a_failed_split_leaves_the_series_as_it_was(diary: Diary, radicale: Radicale) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    before = await diary.events("2026-11-01", "2026-12-31")
    uid = before[0]["id"].split("/")[1]
    radicale.before.append(
        lambda method, path: ("507 Insufficient Storage", {}) if method == "PUT" and uid in path else None
    )

    await diary.refusal("update_event", id=before[2]["id"], title="B", scope="following")
    radicale.before.clear()

    assert await diary.events("2026-11-01", "2026-12-31") == before


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_reading_waits_as_the_server_asks(diary: Diary, radicale: Radicale, status: str) -> None:
    await diary.call("create_event", title="A", start="2026-11-20T09:00")

    def once(method: str, path: str) -> Any:
        radicale.before.clear()
        return status, {"Retry-After": "0"}

    radicale.before.append(once)

    assert len(await diary.events("2026-11-20", "2026-11-20")) == 1


async def test_a_wait_that_is_too_long_is_reported(diary: Diary, radicale: Radicale) -> None:
    radicale.before.append(lambda method, path: ("503 Service Unavailable", {"Retry-After": "3600"}))

    assert "cannot answer now (HTTP 503)" in await diary.refusal("list_calendars")


async def test_a_wrong_password_says_what_to_do(user: CalendarUser, tmp_path: Path) -> None:
    AccountStore.of_home(tmp_path).add(user.account(), "wrong")
    diary = Diary(user, tmp_path, create([], tmp_path))

    refused = await diary.refusal("list_calendars")

    assert "did not accept" in refused
    assert "app password" in refused
    assert "wrong" not in refused


async def test_a_server_that_is_gone_is_reported(user: CalendarUser, tmp_path: Path) -> None:
    account = user.account()
    store = AccountStore.of_home(tmp_path)
    store.add(type(account)(**{**vars(account), "settings": {"url": "http://127.0.0.1:9/"}}), PASSWORD)

    refused = await Diary(user, tmp_path, create([], tmp_path)).refusal("list_calendars")

    assert "cannot be reached" in refused


async def test_a_dropped_connection_is_repeated_for_reading_and_reported_for_writing(tmp_path: Path) -> None:
    """A server that closes every connection after the request."""
    asked: list[bytes] = []

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).split(b" ")[0])
        writer.close()

    server = await asyncio.start_server(drop, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    from toolcrib.accounts import Account
    from toolcrib.accounts.dav import open_dav
    from toolcrib.errors import RemoteUnreachable

    account = Account(name="a", provider="caldav", user="u", settings={"url": f"http://127.0.0.1:{port}/"})
    async with server, open_dav(account, "p") as connection:
        with pytest.raises(RemoteUnreachable, match="cannot be reached"):
            await connection.propfind("/", ("d:displayname",))
        with pytest.raises(RemoteUnreachable) as lost:
            await connection.request("PUT", "/x", content=b"x")

    assert asked == [b"PROPFIND"] * 3 + [b"PUT"]
    assert "may have been made" in lost.value.hint


async def test_a_read_only_account_refuses_changes_and_still_reads(
    user: CalendarUser, tmp_path: Path
) -> None:
    user.put("work", "good", GOOD)
    AccountStore.of_home(tmp_path).add(user.account(read_only=True), PASSWORD)
    diary = Diary(user, tmp_path, create(["--time-zone", ZONE], tmp_path))
    (event,) = await diary.events("2026-11-20", "2026-11-20")

    for tool, arguments in (
        ("create_event", {"title": "A", "start": "2026-11-20"}),
        ("quick_add_event", {"text": "A tomorrow"}),
        ("update_event", {"id": event["id"], "title": "B"}),
        ("delete_event", {"id": event["id"]}),
    ):
        assert "read-only" in await diary.refusal(tool, **arguments)
    assert len(await diary.events("2026-11-20", "2026-11-20")) == 1


@pytest.mark.parametrize("wrong", ["", "x", "work/uid/yesterday", "work/uid/20261399", "a/b/c/d"])
async def test_a_wrong_id_is_refused(diary: Diary, wrong: str) -> None:
    assert await diary.refusal("delete_event", id=wrong)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"start": "someday"}, "is not a time"),
        ({"start": "2026-11-20T09:00", "end": "2026-11-20T08:00"}, "before it starts"),
        ({"start": "2026-11-20T09:00", "time_zone": "Europe/Berlinn"}, "Europe/Berlin"),
        ({"start": "2026-11-20T09:00", "attendees": ["Anna"]}, "not a mail address"),
        (
            {"start": "2026-11-20T09:00", "recurrence": "FREQ=DAILY;COUNT=2;UNTIL=20261201"},
            "exclude each other",
        ),
        ({"start": "2026-11-20T09:00", "end": "2026-11-20T10:00", "duration": 60}, "Give one of them"),
        ({"start": "2026-11-20T09:00", "calendar": "Nope"}, "Work"),
        ({"start": "2026-11-20T09:00", "duration": "soon"}, "not a duration"),
    ],
)
async def test_wrong_arguments_are_refused_with_a_hint(
    diary: Diary, arguments: dict[str, Any], reason: str
) -> None:
    assert reason in await diary.refusal("create_event", title="A", **arguments)
    assert await diary.events("2026-11-01", "2026-12-31") == []

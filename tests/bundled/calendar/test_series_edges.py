"""Series with unusual zones, dates and ends are changed without losing anything."""

from __future__ import annotations

from typing import Any

import pytest

from tests.accounts.test_caldav import account_at, small_server
from tests.bundled.calendar.conftest import Diary
from tests.bundled.calendar.radicale_server import vevent

OFFICE = (
    "BEGIN:VTIMEZONE\r\nTZID:Office\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
    "TZOFFSETFROM:+0300\r\nTZOFFSETTO:+0300\r\nTZNAME:X\r\nEND:STANDARD\r\nEND:VTIMEZONE"
)


async def test_an_occurrence_in_a_zone_of_its_own_definition_keeps_that_zone(diary: Diary) -> None:
    series = vevent(
        "o",
        "DTSTART;TZID=Office:20261102T090000",
        "DTEND;TZID=Office:20261102T100000",
        "RRULE:FREQ=WEEKLY;COUNT=3",
        "SUMMARY:Sync",
    )
    diary.user.put("work", "o", OFFICE, series)
    second = (await diary.events("2026-11-09", "2026-11-09"))[0]

    await diary.call("update_event", id=second["id"], start="11:00")
    await diary.call("delete_event", id=(await diary.events("2026-11-16", "2026-11-16"))[0]["id"])

    assert await diary.starts("2026-11-01", "2026-12-31") == [
        "2026-11-02T09:00:00+03:00",
        "2026-11-09T11:00:00+03:00",
    ]
    stored = diary.user.stored("work", "o")
    assert stored.count("BEGIN:VTIMEZONE") == 1
    assert "RECURRENCE-ID;TZID=Office:20261109T090000" in stored


async def test_all_day_series_are_changed_by_day(diary: Diary) -> None:
    await diary.call("create_event", title="Fair", start="2026-11-02", recurrence="FREQ=WEEKLY;COUNT=4")
    events = await diary.events("2026-11-01", "2026-12-31")

    await diary.call("delete_event", id=events[1]["id"])
    await diary.call("update_event", id=events[2]["id"], start="2026-11-18", end="2026-11-19")
    await diary.call("update_event", id=events[3]["id"], title="Last", scope="following")

    listed = await diary.events("2026-11-01", "2026-12-31")
    assert [(event["title"], event["start"], event["end"]) for event in listed] == [
        ("Fair", "2026-11-02", "2026-11-02"),
        ("Fair", "2026-11-18", "2026-11-19"),
        ("Last", "2026-11-23", "2026-11-23"),
    ]


async def test_deleting_the_last_occurrence_removes_the_series(diary: Diary) -> None:
    await diary.call("create_event", title="Two", start="2026-11-02T09:00", recurrence="FREQ=DAILY;COUNT=2")
    first, second = await diary.events("2026-11-01", "2026-12-31")

    await diary.call("delete_event", id=first["id"])
    await diary.call("delete_event", id=second["id"])

    answer = diary.user.request("GET", f"work/{first['id'].split('/')[1]}.ics")
    assert answer.status_code == 404


async def test_a_new_rule_drops_exceptions_that_it_does_not_have(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    events = await diary.events("2026-11-01", "2026-12-31")
    await diary.call("update_event", id=events[1]["id"], title="Special")

    await diary.call("update_event", id=events[0]["id"], recurrence="every 2 weeks 2 times", scope="all")

    listed = await diary.events("2026-11-01", "2026-12-31")
    assert [(event["title"], event["start"][:10]) for event in listed] == [
        ("Sync", "2026-11-02"),
        ("Sync", "2026-11-16"),
    ]


async def test_a_series_becomes_a_single_event(diary: Diary) -> None:
    made = await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")

    await diary.call("update_event", id=made["event"]["id"], recurrence="none", scope="all")

    (event,) = await diary.events("2026-11-01", "2026-12-31")
    assert (event["recurring"], event["start"][:10]) == (False, "2026-11-02")


async def test_one_occurrence_cannot_get_a_rule(diary: Diary) -> None:
    made = await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")

    assert "scope" in await diary.refusal("update_event", id=made["event"]["id"], recurrence="daily")


async def test_an_occurrence_that_does_not_exist_is_reported(diary: Diary) -> None:
    made = await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")
    wrong = made["event"]["id"].replace("20261102", "20261103")

    assert "no occurrence" in await diary.refusal("delete_event", id=wrong)


async def test_splitting_at_a_moved_occurrence_keeps_the_rest(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    events = await diary.events("2026-11-01", "2026-12-31")
    await diary.call("update_event", id=events[2]["id"], start="2026-11-17T15:00")

    await diary.call("update_event", id=events[1]["id"], location="Room 9", scope="following")

    listed = await diary.events("2026-11-01", "2026-12-31")
    assert [(event.get("location", ""), event["start"][5:16]) for event in listed] == [
        ("", "11-02T09:00"),
        ("Room 9", "11-09T09:00"),
        ("Room 9", "11-17T15:00"),
        ("Room 9", "11-23T09:00"),
    ]


async def test_the_outbox_of_a_server_is_asked_for_the_time_of_others() -> None:
    from datetime import UTC, datetime

    from toolcrib.accounts.dav import open_dav
    from toolcrib.accounts.dav_discovery import DavHome
    from toolcrib.bundled.calendar.caldav import ask_outbox
    from toolcrib.bundled.calendar.model import Busy, TimeWindow

    data = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:REPLY\r\nBEGIN:VFREEBUSY\r\nUID:1\r\n"
        "FREEBUSY;FBTYPE=BUSY:20261120T080000Z/20261120T090000Z,20261120T100000Z/PT30M\r\n"
        "FREEBUSY;FBTYPE=FREE:20261120T110000Z/PT30M\r\nEND:VFREEBUSY\r\nEND:VCALENDAR\r\n"
    )
    body = (
        '<c:schedule-response xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><c:response>'
        "<c:recipient><d:href>mailto:Bo@example.org</d:href></c:recipient><c:request-status>2.0</c:request-status>"
        f"<c:calendar-data>{data}</c:calendar-data></c:response></c:schedule-response>"
    )
    window = TimeWindow(datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC))
    async with small_server({"/outbox/": ("200 OK", {}, body)}) as (url, _):
        home = DavHome(url=f"{url}/", addresses=("anna@example.org",), outbox=f"{url}/outbox/")
        async with open_dav(account_at(f"{url}/"), "p") as connection:
            asked = ["bo@example.org", "no@example.org"]
            found = await ask_outbox(connection, home, home.addresses, asked, window)

    assert found["bo@example.org"] == [
        Busy(datetime(2026, 11, 20, 8, tzinfo=UTC), datetime(2026, 11, 20, 9, tzinfo=UTC)),
        Busy(datetime(2026, 11, 20, 10, tzinfo=UTC), datetime(2026, 11, 20, 10, 30, tzinfo=UTC)),
    ]
    assert "does not know" in str(found["no@example.org"])


async def exceptional(diary: Diary) -> list[dict[str, Any]]:
    """Four Mondays from November 2 on; the third is moved to a Tuesday, the fourth is deleted."""
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    events = await diary.events("2026-11-01", "2026-12-31")
    await diary.call("update_event", id=events[2]["id"], start="2026-11-17T15:00")
    await diary.call("delete_event", id=events[3]["id"])
    return events


async def test_an_occurrence_that_a_new_rule_does_not_have_is_named(diary: Diary) -> None:
    events = await exceptional(diary)
    change = {"id": events[0]["id"], "recurrence": "every 3 weeks 2 times", "scope": "all"}

    asked = await diary.server.tools["update_event"].preview(change)  # type: ignore[misc]
    changed = await diary.call("update_event", **change)

    lost = (
        "The changed occurrence 'Sync' of Mon 16 Nov 2026 (now on Tue 17 Nov 2026) is not in the new series"
    )
    assert asked is not None
    assert lost in asked["text"]
    assert lost in changed["remarks"][0]


async def test_a_moved_occurrence_stays_unless_it_is_the_one_that_is_given_a_time(diary: Diary) -> None:
    events = await exceptional(diary)

    await diary.call("update_event", id=events[0]["id"], start="2026-11-02T11:00", scope="all")
    assert await moved(diary) == ["11-02T11:00", "11-09T11:00", "11-17T15:00"]

    (third,) = await diary.events("2026-11-17", "2026-11-17")
    await diary.call("update_event", id=third["id"], start="2026-11-17T16:00", scope="all")
    assert await moved(diary) == ["11-02T12:00", "11-09T12:00", "11-17T16:00"]


async def test_an_id_from_before_the_series_moved_still_names_the_series(diary: Diary) -> None:
    events = await exceptional(diary)
    await diary.call("update_event", id=events[0]["id"], start="2026-11-02T11:00", scope="all")

    refused = await diary.refusal("update_event", id=events[1]["id"], start="12:00", scope="all")
    await diary.call("update_event", id=events[1]["id"], title="Renamed", scope="all")

    assert "no occurrence" in refused
    assert {each["title"] for each in await diary.events("2026-11-01", "2026-12-31")} == {"Renamed"}


async def moved(diary: Diary) -> list[str]:
    return [start[5:16] for start in await diary.starts("2026-11-01", "2026-12-31")]


@pytest.mark.parametrize("change", [{"duration": "30m"}, {"start": "11:00"}, {"recurrence": "FREQ=WEEKLY"}])
async def test_a_series_whose_first_occurrence_is_deleted_is_changed(
    diary: Diary, change: dict[str, str]
) -> None:
    await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")
    events = await diary.events("2026-11-01", "2026-11-30")
    await diary.call("delete_event", id=events[0]["id"])

    changed = await diary.call("update_event", id=events[2]["id"], scope="all", **change)

    assert changed["event"]["start"].startswith("2026-11-09")
    assert len(await diary.events("2026-11-01", "2026-11-30")) == 4


@pytest.mark.parametrize(("scope", "at"), [("all", 1), ("following", 0), ("following", 1)])
async def test_a_changed_occurrence_takes_what_it_is_given_with_others(
    diary: Diary, scope: str, at: int
) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 3 times"
    )
    chosen = (await diary.events("2026-11-01", "2026-12-31"))[at]
    await diary.call("update_event", id=chosen["id"], title="Own", start="15:00")

    await diary.call("update_event", id=chosen["id"], title="New", start="16:00", scope=scope)

    listed = await diary.events("2026-11-01", "2026-12-31")
    assert (listed[at]["title"], listed[at]["start"][11:16]) == ("New", "16:00")
    assert listed[2]["title"] == "New"

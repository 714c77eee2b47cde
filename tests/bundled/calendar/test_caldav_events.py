"""Events on a CalDAV server are created, found, changed and deleted, alone and in series."""

from __future__ import annotations

from tests.bundled.calendar.conftest import Diary
from tests.bundled.calendar.radicale_server import PASSWORD, Radicale, vevent
from toolcrib.accounts import AccountStore


async def test_a_created_event_is_listed_with_its_local_time(diary: Diary) -> None:
    made = await diary.call(
        "create_event", title="Review", start="2026-11-20T09:00", duration=90, location="Room 5"
    )

    listed = await diary.events("2026-11-20", "2026-11-20")

    assert listed == [made["event"]]
    assert (listed[0]["start"], listed[0]["end"]) == (
        "2026-11-20T09:00:00+01:00",
        "2026-11-20T10:30:00+01:00",
    )
    assert (listed[0]["time_zone"], listed[0]["location"]) == ("Europe/Berlin", "Room 5")


async def test_a_weekly_event_stays_at_its_local_time_over_daylight_saving(diary: Diary) -> None:
    await diary.call("create_event", title="Sync", start="2026-10-16T09:00", recurrence="FREQ=WEEKLY;COUNT=3")

    starts = await diary.starts("2026-10-01", "2026-12-31")

    assert starts == [
        "2026-10-16T09:00:00+02:00",
        "2026-10-23T09:00:00+02:00",
        "2026-10-30T09:00:00+01:00",
    ]


async def test_an_all_day_event_is_on_its_days_in_every_zone(diary: Diary) -> None:
    await diary.call("create_event", title="Fair", start="2026-11-20", end="2026-11-22")

    stored = diary.user.stored(
        "work", (await diary.events("2026-11-21", "2026-11-21"))[0]["id"].split("/")[1]
    )

    assert "DTSTART;VALUE=DATE:20261120" in stored
    assert "DTEND;VALUE=DATE:20261123" in stored
    assert await diary.starts("2026-11-22", "2026-11-22") == ["2026-11-20"]
    assert await diary.starts("2026-11-23", "2026-11-23") == []
    assert "Fri 20 Nov 2026" in await diary.text("get_events", start="2026-11-20", end="2026-11-20")


async def test_one_occurrence_is_moved_and_keeps_its_id(diary: Diary) -> None:
    await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday")
    second = (await diary.events("2026-11-09", "2026-11-09"))[0]

    moved = await diary.call("update_event", id=second["id"], start="2026-11-10T14:00", title="Sync, moved")

    assert moved["event"]["id"] == second["id"]
    assert await diary.starts("2026-11-01", "2026-11-17") == [
        "2026-11-02T09:00:00+01:00",
        "2026-11-10T14:00:00+01:00",
        "2026-11-16T09:00:00+01:00",
    ]
    stored = diary.user.stored("work", second["id"].split("/")[1])
    assert "RECURRENCE-ID;TZID=Europe/Berlin:20261109T090000" in stored
    assert stored.count("BEGIN:VEVENT") == 2
    assert "SEQUENCE:1" in stored


async def test_one_occurrence_is_deleted_and_the_others_stay(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    second = (await diary.events("2026-11-09", "2026-11-09"))[0]

    await diary.call("delete_event", id=second["id"])

    assert [start[:10] for start in await diary.starts("2026-11-01", "2026-12-31")] == [
        "2026-11-02",
        "2026-11-16",
        "2026-11-23",
    ]


async def test_this_and_following_splits_the_series(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 5 times"
    )
    third = (await diary.events("2026-11-16", "2026-11-16"))[0]

    changed = await diary.call(
        "update_event", id=third["id"], start="11:00", title="Later", scope="following"
    )

    events = await diary.events("2026-11-01", "2026-12-31")
    assert [(event["title"], event["start"][5:16]) for event in events] == [
        ("Sync", "11-02T09:00"),
        ("Sync", "11-09T09:00"),
        ("Later", "11-16T11:00"),
        ("Later", "11-23T11:00"),
        ("Later", "11-30T11:00"),
    ]
    assert changed["event"]["id"] == events[2]["id"]
    assert events[2]["id"].split("/")[1] != events[0]["id"].split("/")[1]


async def test_moving_the_series_moves_its_exceptions(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Sync", start="2026-11-02T09:00", recurrence="every Monday 4 times"
    )
    _first, second, third, fourth = await diary.events("2026-11-01", "2026-12-31")
    await diary.call("delete_event", id=second["id"])
    await diary.call("update_event", id=third["id"], title="Special")

    await diary.call("update_event", id=fourth["id"], start="2026-11-24T10:30", scope="all")

    events = await diary.events("2026-11-01", "2026-12-31")
    assert [(event["title"], event["start"][5:16]) for event in events] == [
        ("Sync", "11-03T10:30"),
        ("Special", "11-17T10:30"),
        ("Sync", "11-24T10:30"),
    ]


async def test_deleting_following_ends_the_series(diary: Diary) -> None:
    await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="FREQ=DAILY")
    fifth = (await diary.events("2026-11-06", "2026-11-06"))[0]

    await diary.call("delete_event", id=fifth["id"], scope="following")

    assert len(await diary.events("2026-11-01", "2026-12-31")) == 4


async def test_deleting_all_removes_the_object(diary: Diary) -> None:
    await diary.call("create_event", title="Sync", start="2026-11-02T09:00", recurrence="FREQ=DAILY")
    fifth = (await diary.events("2026-11-06", "2026-11-06"))[0]

    await diary.call("delete_event", id=fifth["id"], scope="all")

    assert await diary.events("2026-11-01", "2026-12-31") == []
    assert "not in the calendar" in await diary.refusal("delete_event", id=fifth["id"])


async def test_a_search_finds_every_word_wherever_it_is(diary: Diary) -> None:
    await diary.call(
        "create_event", title="Zahnarzt, Müller", start="tomorrow 9:00", description="bring the X-ray"
    )
    await diary.call("create_event", title="Lunch", start="tomorrow 12:00", location="Müllerstraße")

    found = await diary.call("search_events", query="MÜLLER x-ray")

    assert [event["title"] for event in found["events"]] == ["Zahnarzt, Müller"]
    assert (await diary.call("search_events", query='"zahnarzt, müller"'))["total"] == 1
    assert (await diary.call("search_events", query="dentist"))["total"] == 0


async def test_properties_of_other_programs_survive_a_change(diary: Diary) -> None:
    event = vevent(
        "x1", "DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "SUMMARY:A", "X-APPLE-TRAVEL:PT15M"
    )
    diary.user.put("work", "x1", event)
    (listed,) = await diary.events("2026-11-20", "2026-11-20")

    await diary.call("update_event", id=listed["id"], title="B")

    stored = diary.user.stored("work", "x1")
    assert "X-APPLE-TRAVEL:PT15M" in stored
    assert "SUMMARY:B" in stored
    assert "DTSTART:20261120T080000Z" in stored


async def test_the_home_of_a_removed_account_is_forgotten(diary: Diary, radicale: Radicale) -> None:
    store, other = AccountStore.of_home(diary.home), radicale.user()
    store.add(other.account("other"), PASSWORD)
    await diary.call("list_calendars", account="home")
    removed = store.remove("home")
    await diary.call("list_calendars", account="other")
    store.add(removed, PASSWORD)

    requests = []
    for _ in range(2):
        radicale.requests.clear()
        await diary.call("list_calendars", account="home")
        requests.append(len(radicale.requests))

    assert requests[0] > requests[1]

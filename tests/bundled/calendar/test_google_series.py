"""Series on Google: ids are opaque, and deleted and changed occurrences survive every change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.accounts.google_service import USER
from tests.bundled.calendar.conftest import Diary
from tests.bundled.calendar.google_calendar import GoogleCalendarService

YEAR = ("2026-10-01", "2027-12-31")
SPLIT = "abc_R20261012T070000"


async def weekly(planner: Diary, **more: Any) -> list[dict[str, Any]]:
    """Eight Mondays from October 12 on; the sixth is moved to a Tuesday, the seventh is deleted."""
    await planner.call(
        "create_event", title="Sync", start="2026-10-12T09:00", recurrence="every Monday 8 times", **more
    )
    events = await planner.events(*YEAR)
    await planner.call("update_event", id=events[5]["id"], start="2026-11-17T15:00", location="Room 9")
    await planner.call("delete_event", id=events[6]["id"])
    return events


async def shown(planner: Diary) -> list[str]:
    return [f"{event['title']} {event['start'][5:16]}" for event in await planner.events(*YEAR)]


@pytest.mark.parametrize(
    "naming",
    [
        lambda series, key: f"{series.partition('_R')[0]}_{key}",
        lambda series, key: f"opaque{abs(hash((series, key)))}",
        lambda series, key: f"{series}_{key.lower()}",
    ],
    ids=["a series split by Google", "opaque", "small letters"],
)
@pytest.mark.parametrize("series", [SPLIT, "abc"])
async def test_an_occurrence_is_known_by_the_id_that_google_listed(
    planner: Diary, google: GoogleCalendarService, naming: Callable[[str, str], str], series: str
) -> None:
    google.naming = naming
    body = {
        "summary": "Sync",
        "start": {"dateTime": "2026-10-12T09:00:00+02:00", "timeZone": "Europe/Berlin"},
        "end": {"dateTime": "2026-10-12T10:00:00+02:00", "timeZone": "Europe/Berlin"},
        "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=4"],
    }
    google.stored[USER][series] = {**body, "id": series, "status": "confirmed", "etag": '"1"'}
    events = await planner.events(*YEAR)

    await planner.call("update_event", id=events[1]["id"], start="2026-10-20T15:00")
    await planner.call("delete_event", id=events[2]["id"])
    old_form = f"{USER}/{series}/20261102T080000Z"
    await planner.call("update_event", id=old_form, title="Last")

    assert await shown(planner) == ["Sync 10-12T09:00", "Sync 10-20T15:00", "Last 11-02T09:00"]
    assert (await planner.events(*YEAR))[1]["id"] == events[1]["id"]


async def test_an_all_day_occurrence_is_found_by_its_day(
    planner: Diary, google: GoogleCalendarService
) -> None:
    await planner.call("create_event", title="Fair", start="2026-11-02", recurrence="every Monday 2 times")
    series = next(iter(google.stored[USER]))

    await planner.call("delete_event", id=f"{USER}/{series}/20261109")

    assert await shown(planner) == ["Fair 11-02"]


@pytest.mark.parametrize(
    ("change", "later"),
    [
        ({"title": "New"}, ["New 11-02T09:00", "New 11-09T09:00", "New 11-17T15:00", "New 11-30T09:00"]),
        (
            {"start": "11:00"},
            ["Sync 11-02T11:00", "Sync 11-09T11:00", "Sync 11-17T15:00", "Sync 11-30T11:00"],
        ),
        (
            {"recurrence": "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261118"},
            [
                *("Sync 11-02T09:00", "Sync 11-04T09:00", "Sync 11-09T09:00", "Sync 11-11T09:00"),
                *("Sync 11-17T15:00", "Sync 11-18T09:00"),
            ],
        ),
    ],
    ids=["text", "time", "rule"],
)
@pytest.mark.parametrize("scope", ["following", "all"])
async def test_deleted_and_moved_occurrences_stay_so(
    planner: Diary, scope: str, change: dict[str, str], later: list[str]
) -> None:
    events = await weekly(planner)

    changed = await planner.call("update_event", id=events[3]["id"], scope=scope, **change)

    clock, title = change.get("start", "09:00"), change.get("title", "Sync")
    first = [
        f"{title} {day}T{clock}" if scope == "all" else f"Sync {day}T09:00"
        for day in ("10-12", "10-19", "10-26")
    ]
    if scope == "all" and "recurrence" in change:
        first = [f"Sync {day}T09:00" for day in ("10-12", "10-14", "10-19", "10-21", "10-26", "10-28")]
    assert await shown(planner) == [*first, *later]
    moved = next(event for event in await planner.events(*YEAR) if event["start"].startswith("2026-11-17"))
    assert moved["location"] == "Room 9"
    assert changed["remarks"] == []


async def test_a_deleted_occurrence_is_never_offered_again(
    planner: Diary, google: GoogleCalendarService
) -> None:
    """Not even for a moment: attendees would be invited to it."""
    events = await weekly(planner, attendees=["bo@example.org"])
    listed: list[list[str]] = []
    answer = google.answer

    def recorded(method: str, *request: Any) -> Any:
        result = answer(method, *request)
        if method in ("POST", "PATCH"):
            listed.append([each["originalStartTime"]["dateTime"][:10] for each in occurrences(google)])
        return result

    google.answer = recorded  # type: ignore[method-assign]
    await planner.call("update_event", id=events[3]["id"], start="11:00", scope="following")
    await planner.call("update_event", id=(await planner.events(*YEAR))[0]["id"], start="08:00", scope="all")

    assert listed
    assert not any("2026-11-23" in each for each in listed[1:])


def occurrences(google: GoogleCalendarService) -> list[dict[str, Any]]:
    events, high = google.stored[USER], datetime(2027, 12, 31, tzinfo=UTC)
    series = [
        each for each in list(events.values()) if each.get("recurrence") and each["status"] != "cancelled"
    ]
    found = [each for master in series for each in google._of_series(events, master, high)]
    return [each for each in found if each["status"] != "cancelled"]


async def test_what_a_new_rule_does_not_have_is_named_before_and_after(planner: Diary) -> None:
    events = await weekly(planner)
    change = {"id": events[0]["id"], "recurrence": "FREQ=WEEKLY;BYDAY=WE;COUNT=3", "scope": "all"}
    change["start"] = "2026-10-14T09:00"

    asked = await planner.server.tools["update_event"].preview(change)  # type: ignore[misc]
    changed = await planner.call("update_event", **change)

    lost = (
        "The changed occurrence 'Sync' of Mon 16 Nov 2026 (now on Tue 17 Nov 2026) is not in the new series"
    )
    assert asked is not None
    assert lost in asked["text"]
    assert lost in changed["remarks"][0]
    assert await shown(planner) == ["Sync 10-14T09:00", "Sync 10-21T09:00", "Sync 10-28T09:00"]


async def test_deleting_the_following_ones_deletes_moved_ones_too(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("delete_event", id=events[4]["id"], scope="following")

    assert await shown(planner) == [f"Sync {day}T09:00" for day in ("10-12", "10-19", "10-26", "11-02")]


async def test_a_moved_occurrence_takes_the_time_that_it_is_given_with_all(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("update_event", id=events[5]["id"], start="2026-11-17T16:00", scope="all")

    found = await shown(planner)
    assert found[0] == "Sync 10-12T10:00"
    assert "Sync 11-17T16:00" in found


async def test_an_id_from_before_the_series_moved_still_names_the_series(planner: Diary) -> None:
    events = await weekly(planner)
    await planner.call("update_event", id=events[0]["id"], start="11:00", scope="all")

    await planner.call("update_event", id=events[2]["id"], title="Renamed", scope="all")

    assert {each.split()[0] for each in await shown(planner)} == {"Renamed"}


async def test_the_later_half_gets_its_own_meeting_link_and_the_attachments(
    planner: Diary, google: GoogleCalendarService
) -> None:
    events = await weekly(planner)
    (master,) = [each for each in google.stored[USER].values() if each.get("recurrence")]
    master["conferenceData"] = {
        "conferenceId": "old",
        "conferenceSolution": {"key": {"type": "hangoutsMeet"}},
    }
    master["attachments"] = [{"fileUrl": "https://drive.google.com/open?id=1", "title": "Plan"}]

    changed = await planner.call("update_event", id=events[3]["id"], title="New", scope="following")

    later = next(
        each for each in google.stored[USER].values() if each["summary"] == "New" and each.get("recurrence")
    )
    assert later["conferenceData"]["conferenceId"] != "old"
    assert later["attachments"] == master["attachments"]
    assert changed["remarks"] == ["The changed occurrences get a new meeting link."]

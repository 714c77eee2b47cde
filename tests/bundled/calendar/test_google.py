"""The same tools work on Google Calendar; faults of the service end in retries or clear errors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from tests.accounts.google_service import USER, Answer
from tests.bundled.calendar.conftest import ZONE, Diary
from tests.bundled.calendar.google_calendar import GoogleCalendarService
from toolcrib.serverkit.caller_context import call_id


async def weekly(planner: Diary, **more: Any) -> list[dict[str, Any]]:
    await planner.call(
        "create_event", title="Sync", start="2026-10-12T09:00", recurrence="every Monday 5 times", **more
    )
    return await planner.events("2026-10-01", "2026-12-31")


async def test_a_created_event_is_listed(planner: Diary) -> None:
    made = await planner.call("create_event", title="Review", start="2026-11-20T09:00", reminders=[10])

    (listed,) = await planner.events("2026-11-20", "2026-11-20")

    assert listed == made["event"]
    assert (listed["start"], listed["time_zone"]) == ("2026-11-20T09:00:00+01:00", "Europe/Berlin")


async def test_a_series_keeps_its_local_time(planner: Diary) -> None:
    starts = [event["start"] for event in await weekly(planner)]

    assert starts[1:4] == [
        "2026-10-19T09:00:00+02:00",
        "2026-10-26T09:00:00+01:00",
        "2026-11-02T09:00:00+01:00",
    ]


async def test_one_occurrence_is_moved_and_another_deleted(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("update_event", id=events[1]["id"], start="2026-10-20T15:00")
    await planner.call("delete_event", id=events[3]["id"])

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [event["start"][5:16] for event in listed] == [
        "10-12T09:00",
        "10-20T15:00",
        "10-26T09:00",
        "11-09T09:00",
    ]
    assert listed[1]["id"] == events[1]["id"]


async def test_this_and_following_splits_the_series(planner: Diary) -> None:
    events = await weekly(planner)

    changed = await planner.call(
        "update_event", id=events[2]["id"], start="11:00", title="Later", scope="following"
    )

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [(event["title"], event["start"][5:16]) for event in listed] == [
        ("Sync", "10-12T09:00"),
        ("Sync", "10-19T09:00"),
        ("Later", "10-26T11:00"),
        ("Later", "11-02T11:00"),
        ("Later", "11-09T11:00"),
    ]
    assert changed["event"]["id"] == listed[2]["id"]


async def test_the_whole_series_moves_with_one_occurrence(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("update_event", id=events[2]["id"], start="2026-10-27T10:00", scope="all")

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [event["start"][5:16] for event in listed] == [
        "10-13T10:00",
        "10-20T10:00",
        "10-27T10:00",
        "11-03T10:00",
        "11-10T10:00",
    ]


async def test_deleting_following_and_all(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("delete_event", id=events[3]["id"], scope="following")
    assert len(await planner.events("2026-10-01", "2026-12-31")) == 3
    await planner.call("delete_event", id=events[1]["id"], scope="all")
    assert await planner.events("2026-10-01", "2026-12-31") == []


async def test_an_event_becomes_all_day(planner: Diary) -> None:
    made = await planner.call("create_event", title="Trip", start="2026-11-20T09:00")

    await planner.call(
        "update_event", id=made["event"]["id"], start="2026-11-20", end="2026-11-21", all_day=True
    )

    (listed,) = await planner.events("2026-11-21", "2026-11-21")
    assert (listed["start"], listed["end"], listed["all_day"]) == ("2026-11-20", "2026-11-21", True)


@pytest.mark.parametrize(("notify", "sent"), [(True, "all"), (False, "none")])
async def test_invitations_are_sent_as_wanted(
    planner: Diary, google: GoogleCalendarService, notify: bool, sent: str
) -> None:
    made = await planner.call(
        "create_event", title="A", start="2026-11-20T09:00", attendees=["Bo <bo@example.org>"], notify=notify
    )

    await planner.call("delete_event", id=made["event"]["id"], notify=notify)

    assert google.sent == [sent, sent]
    assert made["event"]["attendees"][0]["address"] == "bo@example.org"


async def test_an_invitation_of_others_can_only_be_answered(
    planner: Diary, google: GoogleCalendarService
) -> None:
    made = await planner.call(
        "create_event", title="A", start="2026-11-20T09:00", attendees=["bo@example.org"]
    )
    raw = google.stored[USER][made["event"]["id"].split("/")[1]]
    raw["organizer"] = {"email": "boss@example.org"}
    raw["attendees"] = [{"email": USER, "self": True, "responseStatus": "needsAction"}]

    refused = await planner.refusal("update_event", id=made["event"]["id"], title="B")
    answered = await planner.call("update_event", id=made["event"]["id"], response="accepted")

    assert "boss@example.org" in refused
    assert answered["event"]["attendees"][0]["response"] == "accepted"


async def test_a_sentence_is_created_as_it_was_shown(planner: Diary, google: GoogleCalendarService) -> None:
    tool, text = planner.server.tools["quick_add_event"], "Lunch with Anna at Mario's 2030-11-22 12:30"
    shown = await tool.preview({"text": text})  # type: ignore[misc]

    made = await planner.call("quick_add_event", text=text)

    assert shown is not None
    assert (shown["title"], shown["start"]) == ("Lunch with Anna", "Fri 22 Nov 2030 12:30 Europe/Berlin")
    assert (made["event"]["title"], made["event"]["location"]) == ("Lunch with Anna", "Mario's")
    assert made["event"]["start"] == "2030-11-22T12:30:00+01:00"
    posted = [path for method, path in google.asked if method == "POST" and path.startswith("/calendar/")]
    assert posted == [f"/calendar/v3/calendars/{quote(USER, safe='')}/events"]


async def test_a_time_from_now_is_the_one_that_was_approved(
    planner: Diary, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, text = planner.server.tools["quick_add_event"], {"text": "Call Bob in 2 hours"}
    turn_clock(monkeypatch, datetime(2030, 11, 20, 9, 0, tzinfo=UTC))
    token = call_id.set("call-1")
    try:
        shown = await tool.preview(text)  # type: ignore[misc]
        turn_clock(monkeypatch, datetime(2030, 11, 20, 10, 30, tzinfo=UTC))
        result = await tool.call(text)
    finally:
        call_id.reset(token)

    assert shown is not None
    assert shown["start"] == "Wed 20 Nov 2030 12:00 Europe/Berlin"
    assert result["structuredContent"]["event"]["start"] == "2030-11-20T12:00:00+01:00"


async def test_a_sentence_that_was_not_shown_is_not_created(
    planner: Diary, google: GoogleCalendarService
) -> None:
    tool, text = planner.server.tools["quick_add_event"], {"text": "Lunch 2030-11-22 12:30"}
    google.planned = [Answer(403, {"error": {"code": 403, "message": "Forbidden"}})]
    token = call_id.set("call-2")
    try:
        shown = await tool.preview(text)  # type: ignore[misc]
        result = await tool.call(text)
    finally:
        call_id.reset(token)

    assert shown is None
    assert result["isError"]
    assert google.stored[USER] == {}


def turn_clock(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return now.astimezone(tz)

    monkeypatch.setattr("toolcrib.bundled.calendar.sessions.datetime", Clock)


async def test_all_pages_are_read(planner: Diary, google: GoogleCalendarService) -> None:
    google.page_size = 2

    assert len(await weekly(planner)) == 5


async def test_free_time_of_others_is_looked_up(planner: Diary, google: GoogleCalendarService) -> None:
    google.others["bo@example.org"] = [{"start": "2026-11-20T09:00:00Z", "end": "2026-11-20T10:00:00Z"}]

    found = await planner.call(
        "get_free_busy",
        start="2026-11-20T08:00",
        end="2026-11-20T12:00",
        attendees=["bo@example.org", "no@example.org"],
    )

    assert found["busy"][0]["busy"] == [
        {"start": "2026-11-20T10:00:00+01:00", "end": "2026-11-20T11:00:00+01:00"}
    ]
    assert "does not show" in found["busy"][1]["problem"]
    assert [span["start"][11:16] for span in found["free"]] == ["08:00", "11:00"]


async def test_an_expired_token_is_renewed(planner: Diary, google: GoogleCalendarService) -> None:
    await planner.call("list_calendars")
    google.expire_access_tokens()

    assert len((await planner.call("list_calendars"))["calendars"]) == 2


async def test_a_revoked_account_says_how_to_sign_in(planner: Diary, google: GoogleCalendarService) -> None:
    google.revoke_everything()

    assert "toolcrib account add google" in await planner.refusal("list_calendars")


@pytest.mark.parametrize(
    "fault",
    [Answer(429, headers={"Retry-After": "0"}), Answer(503, headers={"Retry-After": "0"}), None],
    ids=["429", "503", "dropped"],
)
async def test_reading_survives_a_fault(
    planner: Diary, google: GoogleCalendarService, fault: Answer | None
) -> None:
    await planner.call("create_event", title="A", start="2026-11-20T09:00")
    google.planned = [fault]

    assert len(await planner.events("2026-11-20", "2026-11-20")) == 1


async def test_a_lost_answer_to_a_change_is_not_repeated(
    planner: Diary, google: GoogleCalendarService
) -> None:
    await planner.call("list_calendars")
    calendars = Answer(
        200, {"items": [{"id": USER, "primary": True, "accessRole": "owner", "timeZone": ZONE}]}
    )
    google.planned = [calendars, None]

    refused = await planner.refusal("create_event", title="A", start="2026-11-20T09:00")

    assert "may have been made" in refused
    assert [method for method, _ in google.asked].count("POST") == 2  # the token, and the event once


async def test_a_change_in_between_is_not_overwritten(planner: Diary, google: GoogleCalendarService) -> None:
    made = await planner.call("create_event", title="A", start="2026-11-20T09:00")
    raw = google.stored[USER][made["event"]["id"].split("/")[1]]
    stale = Answer(200, {**raw, "etag": '"old"'})
    google.planned = [stale, stale]  # what is read before the change, and again for it

    changed = await planner.call("update_event", id=made["event"]["id"], title="B")

    assert changed["event"]["title"] == "B"
    assert [method for method, _ in google.asked].count("PATCH") == 2


async def test_a_deleted_event_is_reported(planner: Diary) -> None:
    made = await planner.call("create_event", title="A", start="2026-11-20T09:00")
    await planner.call("delete_event", id=made["event"]["id"])

    assert "not in the calendar" in await planner.refusal("update_event", id=made["event"]["id"], title="B")


async def test_a_calendar_without_the_right_to_write_refuses(planner: Diary) -> None:
    refused = await planner.refusal("create_event", title="A", start="2026-11-20T09:00", calendar="Team")

    assert "Team is read-only" in refused


async def test_a_search_is_made_by_google(planner: Diary) -> None:
    await planner.call("create_event", title="Dentist", start="tomorrow 9:00")
    await planner.call("create_event", title="Lunch", start="tomorrow 12:00")

    assert [event["title"] for event in (await planner.call("search_events", query="dentist"))["events"]] == [
        "Dentist"
    ]


async def without_one(planner: Diary, google: GoogleCalendarService) -> list[dict[str, Any]]:
    """A weekly series on Mondays from October 12 on, in which another program excluded November 2."""
    events = await weekly(planner)
    (master,) = [each for each in google.stored[USER].values() if each.get("recurrence")]
    master["recurrence"].append("EXDATE;TZID=Europe/Berlin:20261102T090000")
    return events


async def test_excluded_dates_move_with_the_series(planner: Diary, google: GoogleCalendarService) -> None:
    events = await without_one(planner, google)

    await planner.call("update_event", id=events[0]["id"], start="2026-10-13T10:00", scope="all")

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [event["start"][5:16] for event in listed] == [
        "10-13T10:00",
        "10-20T10:00",
        "10-27T10:00",
        "11-10T10:00",
    ]


async def test_excluded_dates_stay_excluded_in_a_split_series(
    planner: Diary, google: GoogleCalendarService
) -> None:
    events = await without_one(planner, google)

    await planner.call("update_event", id=events[2]["id"], title="Later", scope="following")

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [event["start"][5:10] for event in listed] == ["10-12", "10-19", "10-26", "11-09"]


async def test_a_series_becomes_all_day(planner: Diary) -> None:
    events = await weekly(planner)

    await planner.call("update_event", id=events[0]["id"], all_day=True, scope="all")

    listed = await planner.events("2026-10-01", "2026-10-20")
    assert [(event["start"], event["end"]) for event in listed] == [
        ("2026-10-12", "2026-10-12"),
        ("2026-10-19", "2026-10-19"),
    ]


async def test_a_monthly_series_moves_to_another_day_with_its_new_rule(planner: Diary) -> None:
    await planner.call(
        "create_event", title="Rent", start="2026-10-01T09:00", recurrence="FREQ=MONTHLY;BYMONTHDAY=1;COUNT=3"
    )
    (first, *_) = await planner.events("2026-10-01", "2026-12-31")

    await planner.call(
        "update_event",
        id=first["id"],
        start="2026-10-03T09:00",
        recurrence="FREQ=MONTHLY;BYMONTHDAY=3;COUNT=3",
        scope="all",
    )

    listed = await planner.events("2026-10-01", "2026-12-31")
    assert [event["start"][5:10] for event in listed] == ["10-03", "11-03", "12-03"]


async def test_a_declined_invitation_leaves_the_time_free(
    planner: Diary, google: GoogleCalendarService
) -> None:
    made = await planner.call(
        "create_event", title="Talk", start="2026-11-20T09:00", attendees=["bob@example.com"]
    )
    (raw,) = google.stored[USER].values()
    raw["attendees"].append({"email": USER, "self": True, "responseStatus": "declined"})

    found = await planner.call("get_free_busy", start="2026-11-20", end="2026-11-20")

    assert made["event"]["id"]
    assert found["busy"][0]["busy"] == []

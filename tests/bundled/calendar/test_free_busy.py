"""Free and busy times: nobody is free whose time could not be looked up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.accounts.test_caldav import account_at, small_server
from tests.bundled.calendar.conftest import Diary
from tests.bundled.calendar.google_calendar import GoogleCalendarService
from tests.bundled.calendar.radicale_server import vevent
from toolcrib.accounts.dav import open_dav
from toolcrib.accounts.dav_discovery import DavHome
from toolcrib.bundled.calendar.caldav import ask_outbox
from toolcrib.bundled.calendar.model import TimeWindow


async def free_busy(planner: Diary, *attendees: str) -> dict[str, Any]:
    return await planner.call(
        "get_free_busy", start="2026-11-20T08:00", end="2026-11-20T12:00", attendees=list(attendees)
    )


SPAN = [{"start": "2026-11-20T09:00:00Z", "end": "2026-11-20T10:00:00Z"}]


async def test_a_group_is_busy_when_a_member_is(planner: Diary, google: GoogleCalendarService) -> None:
    google.groups["team@example.com"] = ["a@example.com", "b@example.com"]
    google.others.update({"a@example.com": SPAN, "b@example.com": []})

    found = await free_busy(planner, "Team@Example.com")

    assert found["busy"][0]["busy"][0]["start"] == "2026-11-20T10:00:00+01:00"
    assert [span["start"][11:16] for span in found["free"]] == ["08:00", "11:00"]


async def test_a_group_with_an_unknown_member_is_not_free(
    planner: Diary, google: GoogleCalendarService
) -> None:
    google.groups["team@example.com"] = ["a@example.com", "hidden@example.com"]
    google.others["a@example.com"] = []

    found = await free_busy(planner, "team@example.com")

    assert "hidden@example.com" in found["busy"][0]["problem"]
    assert (found["free"], found["unknown"]) == ([], ["team@example.com"])


async def test_google_may_spell_an_address_in_another_way(
    planner: Diary, google: GoogleCalendarService
) -> None:
    google.others["bo@example.com"] = SPAN

    assert len((await free_busy(planner, "Bo@Example.com"))["busy"][0]["busy"]) == 1


async def test_many_addresses_are_asked_in_parts(planner: Diary, google: GoogleCalendarService) -> None:
    people = [f"p{number}@example.com" for number in range(60)]
    google.others.update(dict.fromkeys(people[:59], SPAN))

    found = await free_busy(planner, *people)

    assert [len(each["busy"]) for each in found["busy"]] == [1] * 59 + [0]
    assert found["unknown"] == ["p59@example.com"]
    assert "not known" in await planner.text(
        "get_free_busy", start="2026-11-20T08:00", end="2026-11-20T12:00", attendees=people
    )


EMPTY = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nMETHOD:REPLY\r\n{}END:VCALENDAR\r\n"
GOOD = EMPTY.format("BEGIN:VFREEBUSY\r\nUID:1\r\nEND:VFREEBUSY\r\n")
BROKEN = EMPTY.format("BEGIN:VFREEBUSY\r\nUID:1\r\nFREEBUSY:20261120T08/never\r\nEND:VFREEBUSY\r\n")


@pytest.mark.parametrize(
    ("status", "data", "known"),
    [
        ("2.0;Success", GOOD, True),
        ("2.0;Success", EMPTY.format(""), False),
        ("2.0;Success", BROKEN, False),
        ("3.7;Invalid calendar user", GOOD, False),
        ("5.1;Could not complete delivery", "", False),
    ],
)
async def test_an_answer_of_a_caldav_server_without_busy_times_counts_only_if_it_is_one(
    status: str, data: str, known: bool
) -> None:
    body = (
        '<c:schedule-response xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><c:response>'
        "<c:recipient><d:href>mailto:bo@example.org</d:href></c:recipient>"
        f"<c:request-status>{status}</c:request-status><c:calendar-data>{data}</c:calendar-data>"
        "</c:response></c:schedule-response>"
    )
    window = TimeWindow(datetime(2026, 11, 20, tzinfo=UTC), datetime(2026, 11, 21, tzinfo=UTC))
    async with small_server({"/outbox/": ("200 OK", {}, body)}) as (url, _):
        home = DavHome(url=f"{url}/", addresses=("anna@example.org",), outbox=f"{url}/outbox/")
        async with open_dav(account_at(f"{url}/"), "p") as connection:
            found = await ask_outbox(connection, home, home.addresses, ["bo@example.org"], window)

    assert (found["bo@example.org"] == []) is known


async def test_an_event_that_cannot_be_expanded_makes_the_calendar_uncertain(diary: Diary) -> None:
    lines = ("DTSTART:20261120T080000Z", "DTEND:20261120T090000Z", "RRULE:FREQ=SECONDLY")
    diary.user.put("work", "x", vevent("x", *lines))

    found = await diary.call("get_free_busy", start="2026-11-20", end="2026-11-20")

    assert found["unknown"] == ["Work"]
    assert len(found["busy"][0]["busy"]) == 1

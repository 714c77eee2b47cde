"""A calendar of 10,000 events is read by time, not as a whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.bundled.calendar.conftest import Diary
from tests.bundled.calendar.radicale_server import CalendarUser, calendar_data, vevent

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(600)]
COUNT = 10_000


def fill(user: CalendarUser) -> None:
    """One event every two hours from 2026 on, one of a hundred weekly; the rest of a word in one title."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    events = []
    for number in range(COUNT):
        start = first + timedelta(hours=2 * number)
        rule = ["RRULE:FREQ=WEEKLY;COUNT=4"] if number % 100 == 0 else []
        title = "Zahnarzt" if number == 7777 else f"Event {number}"
        events.append(
            vevent(
                f"n{number}", f"DTSTART:{start:%Y%m%dT%H%M%S}Z", "DURATION:PT1H", f"SUMMARY:{title}", *rule
            )
        )
    answer = user.request("PUT", "big/", content=calendar_data(*events).encode(), timeout=500)
    assert answer.status_code == 201


async def test_a_week_of_a_large_calendar_is_listed_and_searched(diary: Diary) -> None:
    fill(diary.user)

    week = await diary.call("get_events", start="2027-03-01", end="2027-03-07", max_results=200)
    found = await diary.call("search_events", query="zahnarzt", start="2026-01-01", end="2028-03-01")
    changed = await diary.call("update_event", id=found["events"][0]["id"], title="Dentist")

    assert 84 <= week["total"] <= 90
    assert [event["title"] for event in found["events"]] == ["Zahnarzt"]
    assert changed["event"]["title"] == "Dentist"

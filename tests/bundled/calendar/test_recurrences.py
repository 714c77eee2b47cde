"""Recurrences are those that independent libraries compute."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.bundled.calendar.generated import compared, generated_events
from tests.bundled.calendar.radicale_server import calendar_data, vevent
from toolcrib.bundled.calendar.ics import read_calendar
from toolcrib.bundled.calendar.model import TimeWindow
from toolcrib.bundled.calendar.occurrences import Expansion

EVENTS = generated_events()
WINDOW = TimeWindow(datetime(2025, 1, 1, tzinfo=UTC), datetime(2028, 4, 1, tzinfo=UTC))
Pairs = list[tuple[str, str]]


def ours(data: str, window: TimeWindow = WINDOW) -> Pairs:
    found = Expansion(read_calendar(data), UTC).within(window)
    return sorted((compared(each.start), compared(each.end)) for each in found)


def by_recurring_ical_events(data: str) -> Pairs:
    import recurring_ical_events
    from icalendar import Calendar

    found = recurring_ical_events.of(Calendar.from_ical(data)).between(WINDOW.start, WINDOW.end)
    return sorted((compared(each["DTSTART"].dt), compared(each["DTEND"].dt)) for each in found)


def by_ical(data: str) -> Pairs:
    from ical.calendar_stream import IcsCalendarStream

    timeline = IcsCalendarStream.calendar_from_ics(data).timeline_tz(UTC)
    found: Any = timeline.overlapping(WINDOW.start, WINDOW.end)
    return sorted((compared(each.dtstart), compared(each.end)) for each in found)


@pytest.mark.acceptance
def test_occurrences_are_those_of_recurring_ical_events() -> None:
    for event in EVENTS:
        assert ours(event.data) == by_recurring_ical_events(event.data) != [], (event.uid, event.rule)


@pytest.mark.acceptance
def test_occurrences_are_those_of_ical() -> None:
    """It knows neither RDATE nor BYYEARDAY, and ignores a RECURRENCE-ID in UTC; the rest must agree."""
    unknown = ("RDATE", "BYYEARDAY", "RECURRENCE-ID:2")
    known = [event for event in EVENTS if not any(word in event.data for word in unknown)]
    different = [event.uid for event in known if ours(event.data) != by_ical(event.data)]

    assert len(known) > 100
    assert different == []


def starts(*components: str, zone: str = "Europe/Berlin", end: datetime = datetime(2027, 1, 1)) -> list[str]:
    there = ZoneInfo(zone)
    window = TimeWindow(datetime(2026, 1, 1, tzinfo=there), end.replace(tzinfo=there))
    found = Expansion(read_calendar(calendar_data(*components)), there).within(window)
    return [each.start.isoformat() for each in found]


def test_a_time_skipped_by_daylight_saving_is_the_time_after_the_gap() -> None:
    event = vevent(
        "1", "DTSTART;TZID=Europe/Berlin:20260328T023000", "DURATION:PT30M", "RRULE:FREQ=DAILY;COUNT=3"
    )

    assert starts(event) == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:30:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]


def test_a_time_that_occurs_twice_is_the_first_one() -> None:
    event = vevent("1", "DTSTART;TZID=Europe/Berlin:20261025T023000", "DURATION:PT30M")

    assert starts(event) == ["2026-10-25T02:30:00+02:00"]


def test_an_overnight_shift_ends_at_its_local_time_on_the_night_of_the_change() -> None:
    event = vevent(
        "1",
        "DTSTART;TZID=Europe/Berlin:20261023T220000",
        "DTEND;TZID=Europe/Berlin:20261024T060000",
        "RRULE:FREQ=DAILY;COUNT=2",
    )
    zone = ZoneInfo("Europe/Berlin")
    window = TimeWindow(datetime(2026, 10, 1, tzinfo=zone), datetime(2026, 11, 1, tzinfo=zone))

    found = Expansion(read_calendar(calendar_data(event)), zone).within(window)

    assert [each.end.isoformat() for each in found] == [
        "2026-10-24T06:00:00+02:00",
        "2026-10-25T06:00:00+01:00",
    ]


def test_an_until_without_a_time_includes_its_day() -> None:
    event = vevent("1", "DTSTART;TZID=Europe/Berlin:20261101T090000", "RRULE:FREQ=DAILY;UNTIL=20261103")

    assert [start[:10] for start in starts(event)] == ["2026-11-01", "2026-11-02", "2026-11-03"]


def test_an_event_that_began_before_the_window_is_in_it() -> None:
    event = vevent("1", "DTSTART;VALUE=DATE:20251230", "DTEND;VALUE=DATE:20260103")

    assert starts(event) == ["2025-12-30"]


@pytest.mark.parametrize(
    "zone",
    [
        "W. Europe Standard Time",
        "/freeassociation.sourceforge.net/Europe/Berlin",
        "/mozilla.org/20050126_1/Europe/Berlin",
        '"Europe/Berlin"',
    ],
)
def test_other_names_of_a_zone_are_understood(zone: str) -> None:
    event = vevent("1", f"DTSTART;TZID={zone}:20260701T090000", "DURATION:PT1H")

    assert starts(event, zone="UTC") == ["2026-07-01T09:00:00+02:00"]


def test_a_zone_is_that_of_its_own_object() -> None:
    """Two calendars may use one name for different zones."""
    definition = (
        "BEGIN:VTIMEZONE\r\nTZID:Office\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\n"
        "TZOFFSETFROM:{0}\r\nTZOFFSETTO:{0}\r\nTZNAME:X\r\nEND:STANDARD\r\nEND:VTIMEZONE"
    )
    event = vevent("1", "DTSTART;TZID=Office:20261120T090000", "DURATION:PT1H")

    assert starts(definition.format("+0300"), event) == ["2026-11-20T09:00:00+03:00"]
    assert starts(event, definition.format("-0730")) == ["2026-11-20T09:00:00-07:30"]


def test_floating_times_are_those_of_the_user() -> None:
    event = vevent("1", "DTSTART:20261231T230000", "DURATION:PT30M")

    assert starts(event, zone="Asia/Tokyo") == ["2026-12-31T23:00:00"]
    assert starts(event, zone="Asia/Tokyo", end=datetime(2026, 12, 31, 22)) == []


def test_cancelled_occurrences_are_not_shown() -> None:
    series = vevent("1", "DTSTART:20261101T090000Z", "RRULE:FREQ=DAILY;COUNT=3")
    cancelled = vevent("1", "RECURRENCE-ID:20261102T090000Z", "DTSTART:20261102T090000Z", "STATUS:CANCELLED")

    assert [start[:10] for start in starts(series, cancelled)] == ["2026-11-01", "2026-11-03"]


def test_an_override_of_all_later_occurrences_applies_to_them() -> None:
    series = vevent("1", "DTSTART:20261101T090000Z", "DTEND:20261101T100000Z", "RRULE:FREQ=DAILY;COUNT=4")
    later = vevent(
        "1",
        "RECURRENCE-ID;RANGE=THISANDFUTURE:20261103T090000Z",
        "DTSTART:20261103T110000Z",
        "DTEND:20261103T120000Z",
    )

    assert [start[8:13] for start in starts(series, later)] == ["01T09", "02T09", "03T11", "04T11"]


def test_an_invitation_to_one_occurrence_is_shown_without_its_series() -> None:
    only = vevent("1", "RECURRENCE-ID:20261102T090000Z", "DTSTART:20261102T090000Z", "DTEND:20261102T100000Z")

    assert starts(only) == ["2026-11-02T09:00:00+00:00"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=SECONDLY",
        "FREQ=MINUTELY",
        "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;INTERVAL=7;BYDAY=FR",
        "FREQ=X",
        "FREQ=DAILY;INTERVAL=0",
    ],
)
def test_a_rule_that_cannot_be_expanded_leaves_the_first_occurrence(rule: str) -> None:
    event = vevent("1", "DTSTART:20260101T090000Z", "SUMMARY:Odd", f"RRULE:{rule}")

    assert starts(event)[0] == "2026-01-01T09:00:00+00:00"


def test_an_all_day_event_has_no_zone() -> None:
    event = vevent("1", "DTSTART;VALUE=DATE:20261120", "RRULE:FREQ=WEEKLY;COUNT=2")
    found = Expansion(read_calendar(calendar_data(event)), UTC).within(WINDOW)

    assert [(each.start, each.end) for each in found] == [
        (date(2026, 11, 20), date(2026, 11, 21)),
        (date(2026, 11, 27), date(2026, 11, 28)),
    ]


def test_a_rule_by_the_hour_on_certain_days_is_expanded() -> None:
    event = vevent("1", "DTSTART:20261106T213000Z", "RRULE:FREQ=HOURLY;BYDAY=FR,MO;BYHOUR=21,22,23;COUNT=5")

    assert [start[8:16] for start in starts(event, zone="UTC")] == [
        "06T21:30",
        "06T22:30",
        "06T23:30",
        "09T21:30",
        "09T22:30",
    ]

"""Sentences become the events that they mean, and unclear ones are refused."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.bundled.calendar.conftest import Diary
from toolcrib.bundled.calendar.inputs import read_duration
from toolcrib.bundled.calendar.quick_add import read_moment, understand
from toolcrib.bundled.calendar.rules import read_repetition, rule_words
from toolcrib.serverkit.context import ToolFailure

NOW = datetime(2026, 11, 16, 18, 40, tzinfo=ZoneInfo("Europe/Berlin"))
"""A Monday."""


@pytest.mark.parametrize(
    ("text", "title", "start", "end", "place"),
    [
        ("Review next Tuesday 3-4pm", "Review", "2026-11-24T15:00", "2026-11-24T16:00", ""),
        ("Call Bob tomorrow at noon for 90 minutes", "Call Bob", "2026-11-17T12:00", "2026-11-17T13:30", ""),
        (
            "Lunch with Anna at Mario's Friday 12:30",
            "Lunch with Anna",
            "2026-11-20T12:30",
            "2026-11-20T13:30",
            "Mario's",
        ),
        (
            "Dentist 20 November 2026 at 8:30 in Room 5",
            "Dentist",
            "2026-11-20T08:30",
            "2026-11-20T09:30",
            "Room 5",
        ),
        ("Night shift Friday 22:00-6:00", "Night shift", "2026-11-20T22:00", "2026-11-21T06:00", ""),
        ("Trip 2026-12-01 for 3 days", "Trip", "2026-12-01", "2026-12-04", ""),
        ("All day offsite Thursday", "offsite", "2026-11-19", "2026-11-20", ""),
        ("Call 3pm", "Call", "2026-11-17T15:00", "2026-11-17T16:00", ""),
        ("Concert tonight at 8 at Olympia", "Concert", "2026-11-16T20:00", "2026-11-16T21:00", "Olympia"),
        ("Coffee in 2 days at 16h", "Coffee", "2026-11-18T16:00", "2026-11-18T17:00", ""),
        (
            "Workshop from 9 to 12:30 tomorrow in Berlin",
            "Workshop",
            "2026-11-17T09:00",
            "2026-11-17T12:30",
            "Berlin",
        ),
        ("Flight 24.12. 6:45am for 1h30", "Flight", "2026-12-24T06:45", "2026-12-24T08:15", ""),
        ("Lunch 11-1pm on the 20th", "Lunch", "2026-11-20T11:00", "2026-11-20T13:00", ""),
        ("Meeting 11/23 at 15:00", "Meeting", "2026-11-23T15:00", "2026-11-23T16:00", ""),
    ],
)
def test_a_sentence_is_understood(text: str, title: str, start: str, end: str, place: str) -> None:
    found = understand(text, NOW)

    assert (found.title, found.location) == (title, place)
    assert found.start.isoformat().startswith(start)
    assert found.end.isoformat().startswith(end)


@pytest.mark.parametrize(
    ("text", "start", "rule"),
    [
        ("Standup every weekday at 9", "2026-11-17T09:00", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("Team sync every other Friday at 10am", "2026-11-20T10:00", "FREQ=WEEKLY;BYDAY=FR;INTERVAL=2"),
        (
            "Gym every Monday and Wednesday 18:00-19:30 until 20 December",
            "2026-11-18T18:00",
            "FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261220T225959Z",
        ),
        ("Pay rent on the 1st of every month", "2026-12-01", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("1:1 every first Monday of the month at 14:00", "2026-12-07T14:00", "FREQ=MONTHLY;BYDAY=1MO"),
        ("Birthday of Max on 3 March every year", "2027-03-03", "FREQ=YEARLY"),
        ("Yoga daily at 7:15am 10 times", "2026-11-17T07:15", "FREQ=DAILY;COUNT=10"),
    ],
)
def test_a_repetition_begins_on_its_first_day(text: str, start: str, rule: str) -> None:
    found = understand(text, NOW)

    assert found.start.isoformat().startswith(start)
    assert found.rules == (rule,)


def test_addresses_are_invited_and_names_stay_in_the_title() -> None:
    found = understand("Dinner with Anna <anna@x.org> and bob@y.org Saturday 7pm at Chez Paul", NOW)

    assert [str(each) for each in found.attendees] == ["Anna <anna@x.org>", "bob@y.org"]
    assert (found.title, found.location) == ("Dinner with Anna", "Chez Paul")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Meeting 11/12 at 5", "day of November or of December"),
        ("Lunch", "does not say when"),
        ("Sync Tue and Wed at 9", "more than one day"),
        ("Fri 17 Nov standup 9am", "is a Tuesday"),
        ("tomorrow 9am", "what the event is"),
        ("Call at 9:00 tomorrow at 11:00", "more than one time"),
        ("Party tonight", "at what time"),
        ("Trip 30 February", "does not exist"),
        ("Call tomorrow at 25:00", "not a time"),
        ("x" * 2000, "longer than"),
    ],
)
def test_an_unclear_sentence_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ToolFailure, match=reason):
        understand(text, NOW)


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("every 2 weeks on Tue, Thu", "FREQ=WEEKLY;BYDAY=TU,TH;INTERVAL=2"),
        ("monthly on the last Friday", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("weekly for 6 weeks", "FREQ=WEEKLY;UNTIL=20261231"),
        ("the last day of every month", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("quarterly", "FREQ=MONTHLY;INTERVAL=3"),
        ("every day for 10 days", "FREQ=DAILY;UNTIL=20261129"),
        ("every month for 6 months", "FREQ=MONTHLY;UNTIL=20270519"),
        ("RRULE:FREQ=DAILY;COUNT=3", "FREQ=DAILY;COUNT=3"),
    ],
)
def test_words_become_a_rule(words: str, rule: str) -> None:
    assert read_repetition(words, NOW.date(), datetime(2026, 11, 20).date()) == rule


def test_words_that_are_no_recurrence_are_refused() -> None:
    with pytest.raises(ToolFailure, match="not understood"):
        read_repetition("whenever it rains", NOW.date(), NOW.date())


def test_a_rule_is_shown_in_words_only_if_they_say_all() -> None:
    assert (
        rule_words(["FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;COUNT=10"]) == "every 2 weeks on Mon, Wed, 10 times"
    )
    assert (
        rule_words(["FREQ=MONTHLY;BYDAY=-1SU;UNTIL=20261231"])
        == "every month on the last Sun, until 2026-12-31"
    )
    assert rule_words(["FREQ=YEARLY;BYWEEKNO=3"]) == "FREQ=YEARLY;BYWEEKNO=3"


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("tomorrow 15:00", "2026-11-17T15:00:00+01:00"),
        ("Friday 2:30", "2026-11-20T14:30:00+01:00"),
        ("tomorrow evening at 8", "2026-11-17T20:00:00+01:00"),
        ("20 November 3pm EST", "2026-11-20T15:00:00-05:00"),
        ("in 2 hours", "2026-11-16T20:40:00+01:00"),
        *(
            (words, None)
            for words in ("tomorrow evening", "Friday or Saturday", "Friday to Sunday", "morgen")
        ),
        *(
            (words, None)
            for words in ("Friday midnight", "tomorrow for 2 hours", "every Monday", "next week")
        ),
    ],
)
def test_a_time_in_words_is_read_completely_or_not_at_all(words: str, moment: str | None) -> None:
    found = read_moment(words, NOW)

    assert (found.isoformat() if found else None) == moment


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("45m", 45),
        ("1:30", 90),
        ("1h 30m", 90),
        ("half an hour", 30),
        ("2 hours or so", 0),
        ("2h for 3 days", 0),
    ],
)
def test_a_duration_is_read_completely_or_not_at_all(words: str, minutes: int) -> None:
    if not minutes:
        with pytest.raises(ToolFailure, match="not a duration"):
            read_duration(words)
    else:
        assert read_duration(words) == timedelta(minutes=minutes)


async def test_quick_add_reports_how_it_understood_the_sentence(diary: Diary) -> None:
    made = await diary.call("quick_add_event", text="Lunch with Anna at Mario's 20 November 2030 12:30")

    assert made["understood"] == "Lunch with Anna: Wed 20 Nov 2030 12:30–13:30 Europe/Berlin"
    assert await diary.starts("2030-11-20", "2030-11-20") == ["2030-11-20T12:30:00+01:00"]

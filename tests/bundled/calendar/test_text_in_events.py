"""Text in events never becomes a property, a parameter or an attendee."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from icalendar import Calendar, vText

from toolcrib.bundled.calendar import ics
from toolcrib.bundled.calendar.changes import as_event, event_preview
from toolcrib.bundled.calendar.google_events import new_body
from toolcrib.bundled.calendar.ics import attendees_of
from toolcrib.bundled.calendar.inputs import read_people
from toolcrib.bundled.calendar.model import Attendee, EventChanges, NewEvent
from toolcrib.bundled.calendar.rules import checked_rule
from toolcrib.serverkit.context import ToolFailure

START, END = datetime(2026, 11, 20, 9, tzinfo=UTC), datetime(2026, 11, 20, 10, tzinfo=UTC)
NASTY = [
    "a\r\nATTENDEE:mailto:evil@x.test",
    "a\nEND:VEVENT\nBEGIN:VEVENT",
    "a\rX-EVIL:1",
    "a\x85ATTENDEE:mailto:evil@x.test",
    "a\u2028ATTENDEE:mailto:evil@x.test",
    "a\x0b\x0c\x1c\x1e\0b",
    'x";ROLE=CHAIR;X-Y="',
    "x:mailto:evil@x.test",
    "\\nATTENDEE:mailto:evil@x.test",
    "^nATTENDEE^'",
    "=?utf-8?q?a=0d=0aBcc:_evil@x.test?=",
    "\ud800\u202e\u200b",
    "é" * 200,
]
nasty = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=10)), max_size=4).map("".join)


def line(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", text.encode("utf-8", "replace").decode()).strip()


@settings(max_examples=80, deadline=None)
@given(title=nasty, place=nasty, text=nasty, name=nasty)
def test_a_stored_event_has_exactly_the_texts_and_people_that_were_shown(
    title: str, place: str, text: str, name: str
) -> None:
    people = (Attendee(address="bob@example.com", name=line(name)),)
    new = NewEvent(
        title=title, start=START, end=END, location=place, description=text, attendees=people, reminders=(5,)
    )

    if line(name).endswith("\\"):  # readers take it for the beginning of an escape: refused, not changed
        with pytest.raises(ToolFailure, match="not stored"):
            ics.as_data(ics.new_calendar(new, "ann@example.org", notify=True))
        return
    data = ics.as_data(ics.new_calendar(new, "ann@example.org", notify=True))

    (event,) = Calendar.from_ical(data).walk("VEVENT")
    assert {*event.keys()} <= {
        *("UID", "CREATED", "SEQUENCE", "DTSTART", "DTEND", "SUMMARY", "LOCATION", "DESCRIPTION"),
        *("ORGANIZER", "ATTENDEE", "DTSTAMP", "LAST-MODIFIED"),
    }
    assert [(each.address, each.name) for each in attendees_of(event)] == [("bob@example.com", line(name))]
    shown = event_preview("create", "me", "Home", as_event(new, "Home"), UTC, notify=True)
    assert shown["title"] == str(event.get("SUMMARY", "")) == line(title) == new_body(new)["summary"]
    assert shown["where"] == str(event.get("LOCATION", "")) == line(place)
    assert shown["text"] == str(event.get("DESCRIPTION", ""))


@pytest.mark.parametrize(
    "person",
    [
        "bob@example.com?bcc=evil@x.test",
        "bob%0d%0a@example.com",
        "bob@example.com#x",
        '"bob\\nx"@example.com',
        "bob\\n@example.com",
        'bo"b@example.com',
        "=?utf-8?q?evil?=@example.com",
        "bob\u200b@example.com",
        "bob@exam\u2028ple.com",
        "bob@example.com\r\nATTENDEE:mailto:evil@x.test",
        "bob\ud800@example.com",
    ],
)
def test_an_address_with_syntax_in_it_is_no_attendee(person: str) -> None:
    with pytest.raises(ToolFailure, match="is not a mail address"):
        read_people([person])


@pytest.mark.parametrize(
    "rule", ["FREQ=DAILY;COUNT=2\r\nATTENDEE:mailto:evil@x.test", "FREQ=DAILY;COUNT=2;X=\u2028Y:1"]
)
def test_a_rule_with_a_line_break_is_refused(rule: str) -> None:
    with pytest.raises(ToolFailure, match="cannot be used"):
        checked_rule(rule, START)


def test_an_event_that_reads_differently_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last check does not rely on the library that writes it."""
    monkeypatch.setattr(vText, "to_ical", lambda self: str(self).encode().replace(b"\n", b" "))
    new = NewEvent(title="x", start=START, end=END, description="a\nATTENDEE:mailto:evil@x.test")

    with pytest.raises(ToolFailure, match="was not stored"):
        ics.as_data(ics.new_calendar(new, "ann@example.org", notify=True))


def test_changes_are_cleaned_as_new_events_are() -> None:
    changes = EventChanges(title="a\r\nX:1", location=None, description="a\r\nb\0c")

    assert (changes.title, changes.location, changes.description) == ("a X:1", None, "a\nb c")


def test_a_question_says_how_much_of_a_description_it_leaves_out() -> None:
    new = NewEvent(title="x", start=START, end=END, description="y" * 5000)

    shown = event_preview("create", "me", "Home", as_event(new, "Home"), UTC, notify=True)

    assert shown["text"].endswith("[… 1,000 more characters are not shown]")

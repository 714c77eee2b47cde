"""What an approval question shows of a change: the event as it will be, and who is notified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from toolcrib.bundled.calendar.model import (
    Attendee,
    Event,
    EventChanges,
    Moment,
    NewEvent,
    Scope,
    shifted,
    wall,
)
from toolcrib.bundled.calendar.results import last_moment, span_text, time_text
from toolcrib.bundled.calendar.rules import rule_words

MAX_TEXT = 4000
_SCOPES = {
    "this": "this occurrence",
    "following": "this and all following occurrences",
    "all": "all occurrences",
}


def event_preview(
    action: str, account: str, calendar: str, event: Event, zone: tzinfo, notify: bool, text: str = ""
) -> dict[str, Any]:
    """The shape that every approval question for an event has."""
    return {
        "kind": "event",
        "action": action,
        "account": account,
        "calendar": calendar,
        "title": event.title,
        "start": time_text(event.start, zone),
        "end": time_text(last_moment(event), zone),
        "all_day": event.all_day,
        "where": event.location,
        "attendees": [str(each) for each in event.attendees],
        "recurrence": rule_words(event.rules),
        "text": _shortened(text or event.description),
        "notify": notify and bool(event.attendees),
    }


def _shortened(text: str) -> str:
    """The user must see that there is more than is shown."""
    left = len(text) - MAX_TEXT
    return text if left <= 0 else f"{text[:MAX_TEXT]}\n\n[… {left:,} more characters are not shown]"


def as_event(new: NewEvent, calendar: str) -> Event:
    """A new event as it will look."""
    return Event(
        id="",
        calendar=calendar,
        title=new.title,
        start=new.start,
        end=new.end,
        location=new.location,
        description=new.description,
        attendees=new.attendees,
        rules=new.rules,
        reminders=new.reminders or (),
    )


def changed_event(event: Event, changes: EventChanges) -> Event:
    """An event with its changes."""
    start = event.start if changes.start is None else changes.start
    end = changes.end if changes.end is not None else _end(event, start)
    return replace(
        event,
        start=start,
        end=end,
        title=_or(changes.title, event.title),
        location=_or(changes.location, event.location),
        description=_or(changes.description, event.description),
        attendees=event.attendees if changes.attendees is None else changes.attendees,
        rules=event.rules if changes.rules is None else changes.rules,
        reminders=event.reminders if changes.reminders is None else changes.reminders,
    )


def _or(new: str | None, old: str) -> str:
    return old if new is None else new


def _end(event: Event, start: Moment) -> Moment:
    if isinstance(start, datetime) != isinstance(event.start, datetime):
        return event.end
    return shifted(start, wall(event.end) - wall(event.start))


def change_text(before: Event, after: Event, scope: Scope, changes: EventChanges, zone: tzinfo) -> str:
    """What changes, one line each, the old value first."""
    lines = [f"Applies to {_SCOPES[scope]}."] if before.recurring else []
    pairs = [
        ("Title", before.title, after.title),
        ("When", span_text(before, zone), span_text(after, zone)),
        ("Where", before.location, after.location),
        ("Repeats", rule_words(before.rules) or "never", rule_words(after.rules) or "never"),
        ("Description", before.description, after.description),
        ("Attendees", _people(before.attendees), _people(after.attendees)),
        ("Reminders", _minutes(before.reminders), _minutes(after.reminders)),
    ]
    lines += [f"{name}: {old or '(empty)'} → {new or '(empty)'}" for name, old, new in pairs if old != new]
    if changes.response:
        lines.append(f"Answer to the invitation: {changes.response}")
    return "\n".join(lines)


def delete_text(event: Event, scope: Scope) -> str:
    """What is deleted."""
    lines = [f"Deletes {_SCOPES[scope]}."] if event.recurring else []
    if event.attendees and not event.mine:
        lines.append(f"The invitation of {event.organizer} is declined.")
    return "\n".join(lines)


def _people(attendees: Sequence[Attendee]) -> str:
    return ", ".join(map(str, attendees))


def _minutes(reminders: Sequence[int]) -> str:
    return ", ".join(f"{each} min" for each in reminders)

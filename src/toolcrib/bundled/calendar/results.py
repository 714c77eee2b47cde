"""What the tools return: structured content with exact times, and short text with local times. Decides how
dates and times look, the order of events, and how much of a description and how many attendees are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from typing import TypedDict, cast

from toolcrib.bundled.calendar.model import CalendarInfo, Event, Moment, instant, wall
from toolcrib.bundled.calendar.rules import rule_words
from toolcrib.bundled.calendar.zones import zone_name

MAX_DESCRIPTION = 500
"""Characters of a description in a list."""
MAX_FULL_DESCRIPTION = 8000
MAX_ATTENDEES_SHOWN = 30


class AttendeeResult(TypedDict):
    address: str
    name: str
    response: str


class _EventDetails(TypedDict, total=False):
    location: str
    description: str
    description_cut: bool
    attendees: list[AttendeeResult]
    attendee_count: int
    organizer: str
    recurrence: list[str]
    reminders: list[int]
    status: str
    free: bool
    link: str


class EventResult(_EventDetails):
    id: str
    calendar: str
    title: str
    start: str
    end: str
    all_day: bool
    time_zone: str
    recurring: bool


class EventsResult(TypedDict):
    account: str
    events: list[EventResult]
    total: int
    page: int
    pages: int
    remarks: list[str]


class ChangedEvent(TypedDict):
    account: str
    event: EventResult
    understood: str
    remarks: list[str]


class DeletedEvent(TypedDict):
    account: str
    deleted: str
    title: str
    remarks: list[str]


class CalendarResult(TypedDict):
    id: str
    name: str
    default: bool
    writable: bool
    time_zone: str
    description: str


class CalendarsResult(TypedDict):
    account: str
    calendars: list[CalendarResult]


class BusyTime(TypedDict):
    start: str
    end: str


class BusyResult(TypedDict):
    who: str
    busy: list[BusyTime]
    problem: str


class FreeBusyResult(TypedDict):
    account: str
    start: str
    end: str
    busy: list[BusyResult]
    free: list[BusyTime]
    unknown: list[str]


def event_result(event: Event, *, full: bool = False) -> EventResult:
    """An event. The end of an all-day event is its last day."""
    result = EventResult(
        id=event.id,
        calendar=event.calendar,
        title=event.title,
        start=exact(event.start),
        end=exact(last_moment(event)),
        all_day=event.all_day,
        time_zone=_zone_of(event.start),
        recurring=event.recurring,
    )
    result.update(_details(event, MAX_FULL_DESCRIPTION if full else MAX_DESCRIPTION))
    return result


def _details(event: Event, longest: int) -> EventResult:
    """Only what the event has: empty fields cost tokens."""
    people = [
        AttendeeResult(address=attendee.address, name=attendee.name, response=attendee.response)
        for attendee in event.attendees[:MAX_ATTENDEES_SHOWN]
    ]
    given = {
        "location": event.location[:MAX_DESCRIPTION],
        "description": event.description[:longest],
        "description_cut": len(event.description) > longest,
        "attendees": people,
        "attendee_count": len(event.attendees) if len(event.attendees) > len(people) else 0,
        "organizer": event.organizer,
        "recurrence": list(event.rules),
        "reminders": list(event.reminders),
        "status": "" if event.status == "confirmed" else event.status,
        "free": event.transparent,
        "link": event.link[:MAX_DESCRIPTION],
    }
    return cast("EventResult", {key: value for key, value in given.items() if value})


def exact(moment: Moment) -> str:
    """ISO 8601 with the offset; without one for floating times and days."""
    return moment.isoformat()


def last_moment(event: Event) -> Moment:
    return event.end if isinstance(event.end, datetime) else event.end - timedelta(days=1)


def _zone_of(moment: Moment) -> str:
    return zone_name(moment.tzinfo) if isinstance(moment, datetime) else ""


def local(moment: Moment, zone: tzinfo) -> Moment:
    """In the user's zone; days and floating times stay as they are."""
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(zone)
    return moment


def day_text(moment: Moment) -> str:
    return f"{moment:%a} {moment.day} {moment:%b %Y}"


def time_text(moment: Moment, zone: tzinfo) -> str:
    """`Fri 20 Nov 2026 09:00 Europe/Berlin`."""
    there = local(moment, zone)
    if not isinstance(there, datetime):
        return day_text(there)
    name = f" {zone_name(zone)}" if there.tzinfo else " (local time everywhere)"
    return f"{day_text(there)} {there:%H:%M}{name}"


def span_text(event: Event, zone: tzinfo) -> str:
    """When an event is, with its days."""
    start, end = local(event.start, zone), local(last_moment(event), zone)
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        return (
            f"{day_text(start)}, all day" if start == end else f"{day_text(start)} – {day_text(end)}, all day"
        )
    zone_text = zone_name(start.tzinfo) or "(local time everywhere)"
    return f"{day_text(start)} {_hours(event, zone)} {zone_text}"


def event_text(event: Event, zone: tzinfo) -> str:
    """An event in a few lines."""
    lines = [event.title or "(no title)", span_text(event, zone)]
    if event.rules:
        lines.append(f"Repeats {rule_words(event.rules)}")
    if event.location:
        lines.append(f"Where: {event.location[:MAX_DESCRIPTION]}")
    if event.attendees:
        lines.append(f"Attendees: {', '.join(map(str, event.attendees[:MAX_ATTENDEES_SHOWN]))}")
    lines.append(f"id: {event.id}")
    return "\n".join(lines)


def events_text(events: Sequence[Event], zone: tzinfo, footer: Iterable[str]) -> str:
    """Events by day, one line each."""
    lines: list[str] = []
    for day, group in groupby(events, key=lambda event: wall(local(event.start, zone)).date()):
        lines.append(f"{day_text(day)} ({zone_name(zone)})")
        lines.extend(f"  {_line(event, zone)}" for event in group)
    return "\n".join([*(lines or ["No events."]), *footer])


def _line(event: Event, zone: tzinfo) -> str:
    parts = [f"{_hours(event, zone)} {' '.join(event.title.split())[:200] or '(no title)'}"]
    if event.location:
        parts.append(" ".join(event.location.split())[:80])
    if event.attendees:
        parts.append(f"{len(event.attendees)} attendees")
    if event.recurring:
        parts.append("repeats")
    if event.status == "tentative":
        parts.append("tentative")
    return f"{' · '.join(parts)} [{event.id}]"


def _hours(event: Event, zone: tzinfo) -> str:
    start, end = local(event.start, zone), local(last_moment(event), zone)
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        return "all day" if start == end else f"all day until {day_text(end)}"
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{day_text(end)} {end:%H:%M}"
    return f"{start:%H:%M}–{until}"


def calendars_text(calendars: Sequence[CalendarInfo]) -> str:
    """One line each."""
    lines = [
        f"{calendar.name} [{calendar.id}]"
        + (" default" if calendar.primary else "")
        + ("" if calendar.writable else " read-only")
        for calendar in calendars
    ]
    return "\n".join(lines) or "The account has no calendars."


def in_order(events: Iterable[Event], zone_of: datetime) -> list[Event]:
    """By start; all-day events first in their day."""
    return sorted(events, key=lambda event: (instant(event.start, zone_of), not event.all_day, event.id))

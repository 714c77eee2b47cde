"""Writes iCalendar data: new events, and changed fields of existing ones."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

from icalendar import Alarm, Calendar, Component, vCalAddress, vRecur, vText
from icalendar import Event as VEvent

from toolcrib.bundled.calendar.ics import address_of, attendees_of
from toolcrib.bundled.calendar.model import Attendee, EventChanges, Moment, NewEvent
from toolcrib.serverkit.context import ToolFailure

PRODUCT = "-//Toolcrib//Calendar//EN"


def new_uid() -> str:
    return f"{uuid4()}@toolcrib"


def new_calendar(new: NewEvent, organizer: str, notify: bool) -> Calendar:
    """An object with one event or series."""
    event = VEvent()
    event.add("uid", new_uid())
    event.add("created", _now())
    event.add("sequence", 0)
    set_moment(event, "DTSTART", new.start)
    set_moment(event, "DTEND", new.end)
    set_text(event, "SUMMARY", new.title)
    set_text(event, "LOCATION", new.location)
    set_text(event, "DESCRIPTION", new.description)
    set_rules(event, new.rules)
    set_attendees(event, new.attendees, organizer, notify)
    set_reminders(event, new.reminders or ())
    stamp(event)
    return wrapped([event])


def wrapped(events: Iterable[Component]) -> Calendar:
    """A calendar object around events."""
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    for event in events:
        calendar.add_component(event)
    return calendar


def as_data(calendar: Calendar) -> bytes:
    """The object with the definitions of the zones that it uses.

    It is read again: raises `ToolFailure` if others would read other people, texts or properties in it.
    """
    calendar.add_missing_timezones()
    data: bytes = calendar.to_ical()
    try:
        again = Calendar.from_ical(data)
    except ValueError:
        again = Calendar()
    if _substance(again) != _substance(calendar):
        raise ToolFailure(
            "The event was not stored: once written, it has other texts, attendees or properties.",
            "Write the title, place, description and names in other words.",
        )
    return data


def _substance(calendar: Component) -> list[Any]:
    """What the components of an object have, and who and what they name."""
    return [
        (
            part.name,
            sorted(part.keys()),
            [str(part.get(name, "")) for name in ("SUMMARY", "LOCATION", "DESCRIPTION", "ORGANIZER")],
            [(str(each), str(each.params.get("CN", ""))) for each in _listed(part)],
        )
        for part in calendar.walk()
    ]


def stamp(event: Component) -> None:
    """Mark it as changed now."""
    for name in ("DTSTAMP", "LAST-MODIFIED"):
        event.pop(name, None)
        event.add(name, _now())


def raise_sequence(event: Component) -> None:
    """Mark it as a newer version of itself."""
    try:
        number = int(event.get("SEQUENCE", 0))
    except (TypeError, ValueError):
        number = 0
    event.pop("SEQUENCE", None)
    event.add("SEQUENCE", number + 1)
    stamp(event)


def set_fields(event: Component, changes: EventChanges, organizer: str, notify: bool) -> None:
    """Change everything but times and rules."""
    for name, value in (
        ("SUMMARY", changes.title),
        ("LOCATION", changes.location),
        ("DESCRIPTION", changes.description),
    ):
        if value is not None:
            set_text(event, name, value)
    if changes.attendees is not None:
        set_attendees(event, changes.attendees, organizer, notify)
    if changes.reminders is not None:
        set_reminders(event, changes.reminders)


def set_text(event: Component, name: str, value: str) -> None:
    event.pop(name, None)
    if value:
        event.add(name, value)


def set_moment(event: Component, name: str, moment: Moment) -> None:
    """A zone that has no name is written as UTC."""
    event.pop(name, None)
    if name == "DTEND":
        event.pop("DURATION", None)
    event.add(name, _writable(moment))


def _writable(moment: Moment) -> Moment:
    if isinstance(moment, datetime) and isinstance(moment.tzinfo, timezone):
        return moment.astimezone(UTC)
    return moment


def set_moments(event: Component, name: str, moments: Iterable[Moment]) -> None:
    """EXDATE or RDATE, one line each."""
    event.pop(name, None)
    for moment in moments:
        event.add(name, [_writable(moment)])


def set_rules(event: Component, rules: Iterable[str]) -> None:
    event.pop("RRULE", None)
    for rule in rules:
        event.add("RRULE", vRecur.from_ical(rule))


def set_reminders(event: Component, minutes: Iterable[int]) -> None:
    event.subcomponents = [each for each in event.subcomponents if each.name != "VALARM"]
    for before in minutes:
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", str(event.get("SUMMARY", "Reminder")))
        alarm.add("trigger", timedelta(minutes=-before))
        event.add_component(alarm)


def set_attendees(event: Component, attendees: Iterable[Attendee], organizer: str, notify: bool) -> None:
    """Those already invited keep their answers."""
    wanted = list(attendees)
    known = {address_of(each).lower(): each for each in _listed(event)}
    event.pop("ATTENDEE", None)
    if not wanted:
        event.pop("ORGANIZER", None)
        return
    if "ORGANIZER" not in event:
        event.add("ORGANIZER", vCalAddress(f"mailto:{organizer}"))
    for attendee in wanted:
        prop = known.get(attendee.address.lower()) or _invitation(attendee, notify)
        event.add("ATTENDEE", prop, encode=False)


def set_response(event: Component, addresses: Iterable[str], response: str) -> bool:
    """Answer an invitation; false if the user is not invited."""
    own = {address.lower() for address in addresses}
    mine = [each for each in _listed(event) if address_of(each).lower() in own]
    for each in mine:
        each.params["PARTSTAT"] = vText(response.upper())
        each.params.pop("RSVP", None)
    return bool(mine)


def same_attendees(one: Component, other: Component) -> bool:
    return {each.address for each in attendees_of(one)} == {each.address for each in attendees_of(other)}


def _listed(event: Component) -> list[Any]:
    given = event.get("ATTENDEE", [])
    return given if isinstance(given, list) else [given]


def _invitation(attendee: Attendee, notify: bool) -> vCalAddress:
    prop = vCalAddress(f"mailto:{attendee.address}")
    if attendee.name:
        prop.params["CN"] = vText(attendee.name)
    prop.params["ROLE"] = vText("OPT-PARTICIPANT" if attendee.optional else "REQ-PARTICIPANT")
    prop.params["PARTSTAT"] = vText("NEEDS-ACTION")
    prop.params["RSVP"] = vText("TRUE")
    if not notify:
        prop.params["SCHEDULE-AGENT"] = vText("CLIENT")
    return prop


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)

"""Reads iCalendar data of any quality, and writes it: what cannot be understood does no harm. Also attendees,
answers, reminders and time zones in it; limits for texts and attendees."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any
from uuid import uuid4

from icalendar import Alarm, Calendar, Component, FreeBusy, vCalAddress, vRecur, vText
from icalendar import Event as VEvent
from icalendar.error import GloballyUniqueTZIDGuessed

from toolcrib.bundled.calendar.model import (
    Attendee,
    Busy,
    EventChanges,
    Moment,
    NewEvent,
    Response,
    TimeWindow,
)
from toolcrib.bundled.calendar.zones import find_zone, settled
from toolcrib.serverkit.context import ToolFailure

PRODUCT = "-//Toolcrib//Calendar//EN"
MAX_TEXT = 100_000
"""Characters of one description that are read."""
MAX_ATTENDEES = 500
_FOLD = re.compile(r"\r?\n[ \t]")
_RESPONSES: dict[str, Response] = {
    "ACCEPTED": "accepted",
    "DECLINED": "declined",
    "TENTATIVE": "tentative",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What the library raises for data that is wrong in some way; its own errors are `ValueError`s."""


def read_calendar(data: str) -> Calendar:
    """The calendar in the data; raises `ValueError`."""
    text = _CONTROL.sub("", data.lstrip("\ufeff"))
    found = Calendar.from_ical(text)
    if not isinstance(found, Calendar):
        raise ValueError("not a calendar")
    return found


def searchable(data: str) -> str:
    """The data with its lines unfolded and its escapes removed, for a search before reading."""
    text = _FOLD.sub("", data)
    return re.sub(r"\\([,;\\])", r"\1", text).casefold()


class Zones:
    """The zones that the dates of one calendar object mean."""

    def __init__(self, calendar: Calendar, fallback: tzinfo) -> None:
        self._defined: dict[str, Component] = {
            str(zone.get("TZID", "")): zone for zone in calendar.walk("VTIMEZONE")
        }
        self._found: dict[str, tzinfo] = {}
        self._fallback = fallback
        self.unknown: set[str] = set()

    def moment(self, prop: Any) -> Moment | None:
        """A date property as a moment; None if it is damaged."""
        try:
            return self.placed(prop.dt, str(prop.params.get("TZID", "")))
        except (AttributeError, ValueError, TypeError, OverflowError):
            return None

    def placed(self, value: Any, tzid: str) -> Moment | None:
        """A value in the zone with this name. The library keeps one definition for all calendars."""
        if not isinstance(value, datetime):
            return value if isinstance(value, date) else None
        if not tzid:
            return value
        return value.replace(tzinfo=self.zone(tzid))

    def zone(self, tzid: str) -> tzinfo:
        """By its name if that is known, else by its definition, else the fallback."""
        if tzid not in self._found:
            self._found[tzid] = find_zone(tzid) or self._own(tzid) or self._guess(tzid)
        return self._found[tzid]

    def _own(self, tzid: str) -> tzinfo | None:
        definition = self._defined.get(tzid)
        if definition is None:
            return None
        try:
            location = str(definition.get("X-LIC-LOCATION", ""))
            made: tzinfo = find_zone(location) if location else None  # type: ignore[assignment]
            return made or definition.to_tz(lookup_tzid=False)  # type: ignore[attr-defined]
        except UNREADABLE:
            return None

    def _guess(self, tzid: str) -> tzinfo:
        self.unknown.add(tzid)
        return self._fallback


def start_and_end(event: Component, zones: Zones) -> tuple[Moment, Moment] | None:
    """When an event is; None if it has no readable start."""
    start = zones.moment(event.get("DTSTART"))
    if start is None:
        return None
    end = zones.moment(event.get("DTEND")) if "DTEND" in event else _end_by_duration(event, start)
    if end is None or isinstance(end, datetime) != isinstance(start, datetime):
        end = start + timedelta(days=0 if isinstance(start, datetime) else 1)
    if not isinstance(start, datetime):
        return start, max(end, start + timedelta(days=1))
    assert isinstance(end, datetime)
    return start, end if _in_order(start, end) else start


def _in_order(start: datetime, end: datetime) -> bool:
    if (start.tzinfo is None) != (end.tzinfo is None):
        return False
    return start <= end


def _end_by_duration(event: Component, start: Moment) -> Moment | None:
    duration = getattr(event.get("DURATION"), "dt", None)
    if not isinstance(duration, timedelta) or duration < timedelta(0):
        return None
    if not isinstance(start, datetime):
        return start + timedelta(days=max(1, duration.days))
    if start.tzinfo is None:
        return start + duration
    # Days are those of the wall clock, hours are exact.
    later = settled(start + timedelta(days=duration.days)).astimezone(UTC)
    return (later + timedelta(seconds=duration.seconds)).astimezone(start.tzinfo)


def moments(event: Component, name: str, zones: Zones) -> Iterator[tuple[Moment, Moment | timedelta | None]]:
    """The dates of EXDATE or RDATE, with the end of each that is a period."""
    given = event.get(name)
    for prop in given if isinstance(given, list) else [given] if given is not None else []:
        tzid = str(getattr(prop, "params", {}).get("TZID", ""))
        for entry in getattr(prop, "dts", ()):
            value = entry.dt
            first, last = value if isinstance(value, tuple) else (value, None)
            start = zones.placed(first, tzid)
            end = last if isinstance(last, timedelta) else zones.placed(last, tzid) if last else None
            if start is not None:
                yield start, end


def text(event: Component, name: str) -> str:
    """A text property; the first one if there are several."""
    value = event.get(name, "")
    if isinstance(value, list):
        value = value[0] if value else ""
    return str(value)[:MAX_TEXT]


def rules_of(event: Component) -> tuple[str, ...]:
    """Its recurrence rules as text, also those that cannot be read."""
    given = event.get("RRULE")
    found = given if isinstance(given, list) else [given] if given is not None else []
    return tuple(_rule_text(rule) for rule in found)


def _rule_text(rule: Any) -> str:
    raw = rule.to_ical() if hasattr(rule, "to_ical") else str(rule)
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def attendees_of(event: Component) -> tuple[Attendee, ...]:
    """Those invited."""
    given = event.get("ATTENDEE", [])
    found = given if isinstance(given, list) else [given]
    return tuple(read_attendee(attendee) for attendee in found[:MAX_ATTENDEES])


def read_attendee(prop: Any) -> Attendee:
    """An ATTENDEE or ORGANIZER."""
    params = getattr(prop, "params", {})
    response = _RESPONSES.get(str(params.get("PARTSTAT", "")).upper(), "needs-action")
    return Attendee(
        address=address_of(prop),
        name=str(params.get("CN", "")),
        response=response,
        optional=str(params.get("ROLE", "")).upper() == "OPT-PARTICIPANT",
    )


def address_of(prop: Any) -> str:
    """The mail address of an ATTENDEE or ORGANIZER."""
    value = str(prop or "")
    return value[7:] if value.lower().startswith("mailto:") else value


def reminders_of(event: Component) -> tuple[int, ...]:
    """Minutes before the start."""
    found = [getattr(alarm.get("TRIGGER"), "dt", None) for alarm in event.walk("VALARM")]
    before = [int(-trigger.total_seconds() // 60) for trigger in found if isinstance(trigger, timedelta)]
    return tuple(sorted({minutes for minutes in before if minutes >= 0}))


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
            [(str(attendee), str(attendee.params.get("CN", ""))) for attendee in _listed(part)],
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
    event.subcomponents = [component for component in event.subcomponents if component.name != "VALARM"]
    for before in minutes:
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", str(event.get("SUMMARY", "Reminder")))
        alarm.add("trigger", timedelta(minutes=-before))
        event.add_component(alarm)


def set_attendees(event: Component, attendees: Iterable[Attendee], organizer: str, notify: bool) -> None:
    """Those already invited keep their answers."""
    wanted = list(attendees)
    known = {address_of(attendee).lower(): attendee for attendee in _listed(event)}
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
    mine = [attendee for attendee in _listed(event) if address_of(attendee).lower() in own]
    for attendee in mine:
        attendee.params["PARTSTAT"] = vText(response.upper())
        attendee.params.pop("RSVP", None)
    return bool(mine)


def same_attendees(one: Component, other: Component) -> bool:
    return {attendee.address for attendee in attendees_of(one)} == {
        attendee.address for attendee in attendees_of(other)
    }


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


# Names of zones are looked up here again, by `zones`.
warnings.filterwarnings("ignore", category=GloballyUniqueTZIDGuessed)


def busy_request(organizer: str, addresses: Iterable[str], window: TimeWindow) -> bytes:
    """The question when others are busy (iTIP)."""
    question = FreeBusy()
    question.add("uid", new_uid())
    question.add("dtstamp", datetime.now(UTC))
    question.add("dtstart", window.start.astimezone(UTC))
    question.add("dtend", window.end.astimezone(UTC))
    question.add("organizer", vCalAddress(f"mailto:{organizer}"))
    for address in addresses:
        question.add("attendee", vCalAddress(f"mailto:{address}"))
    calendar = wrapped([question])
    calendar.add("method", "REQUEST")
    data: bytes = calendar.to_ical()
    return data


def busy_periods(data: str) -> list[Busy] | str:
    """The answer, or why there is none."""
    try:
        answers = read_calendar(data).walk("VFREEBUSY")
    except ValueError:
        return "The server's answer cannot be read."
    if not answers or any(answer.errors for answer in answers):
        return "The server's answer is not complete."
    found: list[Busy] = []
    for answer in answers:
        given = answer.get("FREEBUSY", [])
        for prop in given if isinstance(given, list) else [given]:
            if str(prop.params.get("FBTYPE", "BUSY")).upper() != "FREE":
                found.extend(_period(prop))
    return found


def _period(prop: Any) -> list[Busy]:
    start, end = prop.dt if isinstance(prop.dt, tuple) else (prop.start, prop.end)
    return [Busy(start, end if isinstance(end, datetime) else start + end)]

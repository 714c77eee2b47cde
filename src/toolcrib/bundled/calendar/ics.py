"""Reads iCalendar data of any quality: what can be understood is, and the rest does no harm."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from icalendar import Calendar, Component
from icalendar.error import GloballyUniqueTZIDGuessed

from toolcrib.bundled.calendar.model import Attendee, Moment, Response
from toolcrib.bundled.calendar.zones import find_zone, settled

# Names of zones are looked up here again, by `zones`.
warnings.filterwarnings("ignore", category=GloballyUniqueTZIDGuessed)
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
        except Exception:  # noqa: BLE001 - a definition of others can be wrong in any way
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
        for each in getattr(prop, "dts", ()):
            value = each.dt
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
    return tuple(read_attendee(each) for each in found[:MAX_ATTENDEES])


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
    before = [int(-each.total_seconds() // 60) for each in found if isinstance(each, timedelta)]
    return tuple(sorted({minutes for minutes in before if minutes >= 0}))

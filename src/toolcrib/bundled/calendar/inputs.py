"""Reads what a model passes to the tools: times, windows of time, durations and people. Decides the default
length of an event, days looked at by default and at most, most attendees and reminders, and error messages
for wrong dates."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from email.utils import getaddresses

from toolcrib.bundled.calendar.model import Attendee, Moment, TimeWindow, instant, wall
from toolcrib.bundled.calendar.quick_add import read_moment
from toolcrib.bundled.calendar.zones import settled
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.mail_address import header_text, mailto_address
from toolcrib.serverkit.time_phrases import LENGTH, Phrase, mark_lengths, mark_of

MAX_DAYS = 800
MAX_ATTENDEES = 200
DEFAULT_LENGTH = timedelta(hours=1)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ISO_DURATION = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


def read_time(text: str, now: datetime) -> Moment:
    """A day or a time; without an offset it is in the zone of `now`. Raises `ToolFailure`."""
    text = text.strip()
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
        found = datetime.fromisoformat(text)
    except ValueError:
        words = read_moment(text, now)
        if words is None:
            raise ToolFailure(
                f"{text[:60]!r} is not a time.", "Use 2026-11-20T15:00, or 2026-11-20 for a whole day."
            ) from None
        return words
    return found if found.tzinfo else settled(found.replace(tzinfo=now.tzinfo))


def event_times(
    start: str, end: str | None, duration: str | int | None, all_day: bool | None, now: datetime
) -> tuple[Moment, Moment]:
    """Start and end of a new event. The end of an all-day event is given as its last day."""
    first = read_time(start, now)
    if all_day and isinstance(first, datetime):
        first = first.date()
    if all_day is False and not isinstance(first, datetime):
        raise ToolFailure("The event has no time of day.", "Give `start` as 2026-11-20T15:00.")
    if end is not None and duration is not None:
        raise ToolFailure("Both `end` and `duration` are given.", "Give one of them.")
    last = read_time(end, now) if end is not None else None
    return first, checked_end(first, last, read_duration(duration))


def checked_end(first: Moment, last: Moment | None, length: timedelta | None) -> Moment:
    """The end of an event as iCalendar counts it; raises `ToolFailure` if it is before the start."""
    if not isinstance(first, datetime):
        day = (
            wall(last).date()
            if last is not None
            else first + (length or timedelta(days=1)) - timedelta(days=1)
        )
        if day < first:
            raise ToolFailure(f"The event ends on {day}, before it starts on {first}.", "Correct `end`.")
        return day + timedelta(days=1)
    if last is None:
        return _later(first, DEFAULT_LENGTH if length is None else length)
    if not isinstance(last, datetime):
        last = datetime.combine(last, time(23, 59), first.tzinfo)
    if instant(last, first) < first:
        raise ToolFailure(f"The event ends at {last}, before it starts at {first}.", "Correct `end`.")
    return last.astimezone(first.tzinfo) if last.tzinfo and first.tzinfo else last


def _later(first: datetime, length: timedelta) -> datetime:
    """Days on the wall clock, hours exactly."""
    moved = settled(first + timedelta(days=length.days))
    rest = timedelta(seconds=length.seconds)
    if moved.tzinfo is None:
        return moved + rest
    return (moved.astimezone(UTC) + rest).astimezone(first.tzinfo)


def read_duration(given: str | int | None) -> timedelta | None:
    """Minutes, `90 minutes`, `1h30`, `1:30`, or `PT1H30M`."""
    if given is None:
        return None
    text = str(given).strip()
    if text.isdigit():
        return _positive(timedelta(minutes=int(text)), text)
    found = _ISO_DURATION.fullmatch(text.upper())
    if found and len(text) > 2:
        weeks, days, hours, minutes, seconds = (int(number or 0) for number in found.groups())
        length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return _positive(length, text)
    clock = _TIME.fullmatch(text)
    if clock and int(clock[2]) < 60:
        return _positive(timedelta(hours=int(clock[1]), minutes=int(clock[2])), text)
    phrase = Phrase.of(f"for {text.removeprefix('for ')}")
    mark_lengths(phrase)
    whole = re.fullmatch(mark_of(LENGTH), phrase.text)
    return _positive(phrase.left(LENGTH)[0].value.exact if whole else None, text)


def _positive(length: timedelta | None, text: str) -> timedelta:
    if length is None or not timedelta(0) < length <= timedelta(days=366):
        raise ToolFailure(f"{text[:40]!r} is not a duration.", "Use minutes, such as 90.")
    return length


def read_window(days: int | None, start: str | None, end: str | None, now: datetime) -> TimeWindow:
    """The time to look at: from now, or from `start`; a day as the end includes that day."""
    first = instant(read_time(start, now), now) if start else now
    if end and days is not None:
        raise ToolFailure("Both `days` and `end` are given.", "Give one of them.")
    if end:
        given = read_time(end, now)
        whole = given + timedelta(days=1) if not isinstance(given, datetime) else given
        last = instant(whole, now)
    else:
        last = _midnight(first + timedelta(days=7 if days is None else days))
    return checked_window(first, last)


def checked_window(first: datetime, last: datetime) -> TimeWindow:
    """Raises `ToolFailure` for a window that is empty or too long."""
    if last <= first:
        raise ToolFailure("The time ends before it starts.", "Correct `start` and `end`.")
    if last - first > timedelta(days=MAX_DAYS):
        raise ToolFailure(f"The time is longer than {MAX_DAYS} days.", "Ask for less at once.")
    return TimeWindow(first, last)


def _midnight(moment: datetime) -> datetime:
    """The end of a day: `days=1` means the rest of today and tomorrow."""
    return datetime.combine(moment.date() + timedelta(days=1), time(0), moment.tzinfo)


def read_people(given: list[str] | None) -> tuple[Attendee, ...] | None:
    """`anna@example.org` or `Anna Berg <anna@example.org>`; raises `ToolFailure`."""
    if given is None:
        return None
    if len(given) > MAX_ATTENDEES:
        raise ToolFailure(f"More than {MAX_ATTENDEES} attendees are given.", "Invite a mailing list.")
    people: dict[str, Attendee] = {}
    for text in given:
        for name, given_address in getaddresses([text.strip()]) or [("", "")]:
            address = mailto_address(given_address)
            if not address or _CONTROL.search(text.strip()):
                raise ToolFailure(
                    f"{text[:60]!r} is not a mail address.", "Find out the address of this attendee."
                )
            people.setdefault(address.lower(), Attendee(address=address, name=header_text(name)))
    return tuple(people.values())


def moved_start(text: str, now: datetime, start: Moment, zone: tzinfo, all_day: bool | None) -> Moment:
    """The new start of an event: a day alone keeps the time of day, a time alone keeps the day."""
    there = now.astimezone(zone)
    clock = _TIME.fullmatch(text.strip())
    if clock and int(clock[1]) < 24 and int(clock[2]) < 60:
        hour = int(clock[1]) + (12 if clock[1] in "123456" else 0)  # as in a sentence
        return settled(datetime.combine(wall(start).date(), time(hour, int(clock[2])), zone))
    given = read_time(text, there)
    if all_day or (all_day is None and not isinstance(start, datetime) and not isinstance(given, datetime)):
        return wall(given).date()
    if not isinstance(given, datetime):
        if not isinstance(start, datetime):
            raise ToolFailure("The event has no time of day.", "Give `start` as 2026-11-20T15:00.")
        return settled(datetime.combine(given, start.timetz().replace(tzinfo=None), start.tzinfo))
    return given.astimezone(zone) if given.tzinfo else given


def checked_reminders(minutes: list[int] | None) -> tuple[int, ...] | None:
    """Minutes before the start; raises `ToolFailure`."""
    if minutes is None:
        return None
    if len(minutes) > 5 or any(not 0 <= reminder <= 40320 for reminder in minutes):
        raise ToolFailure("Reminders are up to 5 numbers of minutes, each at most 40320 (four weeks).")
    return tuple(sorted(set(minutes)))

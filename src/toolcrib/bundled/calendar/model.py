"""Calendars and events, the same for every provider: their fields, how a search matches words, and the errors
that all share ("not in the calendar", only the organizer, changed by someone else).

A moment is a `datetime` with a zone, a `datetime` without one (a floating time, the same on every clock), or
a `date` (an all-day event). The end of an all-day event is the day after its last one, as in iCalendar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal

from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.mail_address import header_text, shown_address

_TERM = re.compile(r'"([^"]+)"|(\S+)')
Moment = datetime | date
Scope = Literal["this", "following", "all"]
Response = Literal["accepted", "declined", "tentative", "needs-action"]
_BREAK = re.compile(r"\r\n?|[\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, kw_only=True)
class CalendarInfo:
    id: str
    name: str
    writable: bool = True
    primary: bool = False
    time_zone: str = ""
    description: str = ""
    url: str = ""


@dataclass(frozen=True, kw_only=True)
class Attendee:
    address: str
    name: str = ""
    response: Response = "needs-action"
    optional: bool = False

    def __str__(self) -> str:
        return shown_address(self.name, self.address)


@dataclass(frozen=True, kw_only=True)
class Event:
    """One event, or one occurrence of a series."""

    id: str
    calendar: str
    title: str
    start: Moment
    end: Moment
    location: str = ""
    description: str = ""
    attendees: tuple[Attendee, ...] = ()
    organizer: str = ""
    mine: bool = True
    """The user organizes it, or it has no organizer."""
    status: str = "confirmed"
    transparent: bool = False
    """It does not make the user busy."""
    rules: tuple[str, ...] = ()
    """Recurrence rules of its series, such as `FREQ=WEEKLY;BYDAY=MO`."""
    recurring: bool = False
    reminders: tuple[int, ...] = ()
    """Minutes before the start."""
    link: str = ""

    @property
    def all_day(self) -> bool:
        return not isinstance(self.start, datetime)


@dataclass(frozen=True, kw_only=True)
class NewEvent:
    title: str
    start: Moment
    end: Moment
    location: str = ""
    description: str = ""
    attendees: tuple[Attendee, ...] = ()
    rules: tuple[str, ...] = ()
    reminders: tuple[int, ...] | None = None
    """None: the calendar's default."""

    def __post_init__(self) -> None:
        _clean_texts(self)


@dataclass(frozen=True, kw_only=True)
class EventChanges:
    """What to change; None leaves it as it is."""

    title: str | None = None
    start: Moment | None = None
    end: Moment | None = None
    location: str | None = None
    description: str | None = None
    attendees: tuple[Attendee, ...] | None = None
    rules: tuple[str, ...] | None = None
    """Empty ends the series: only the first occurrence stays."""
    reminders: tuple[int, ...] | None = None
    response: Response | None = None
    """The user's answer to an invitation."""

    def __post_init__(self) -> None:
        _clean_texts(self)

    @property
    def moves(self) -> bool:
        return self.start is not None or self.end is not None

    def times(self, start: Moment, end: Moment) -> tuple[Moment, Moment]:
        """Start and end of an event that had these; it stays as long as it was, unless its end is changed."""
        first = self.start if self.start is not None else start
        return first, self.end if self.end is not None else same_length(first, start, end)

    @property
    def only_own(self) -> bool:
        """Whether it changes only what belongs to the user in the event of another organizer."""
        texts = (self.title, self.location, self.description)
        return all(value is None for value in (*texts, self.start, self.end, self.attendees, self.rules))


def _clean_texts(event: NewEvent | EventChanges) -> None:
    """Title and place on one line, and no control characters, so that what is shown is what is stored."""
    for name in ("title", "location"):
        if (value := getattr(event, name)) is not None:
            object.__setattr__(event, name, header_text(value))
    if event.description is not None:
        text = event.description.encode("utf-8", "replace").decode("utf-8")
        object.__setattr__(event, "description", _CONTROL.sub(" ", _BREAK.sub("\n", text)))


@dataclass(frozen=True)
class TimeWindow:
    """A span of time; both ends have a zone. Floating and all-day events are placed in `start`'s zone."""

    start: datetime
    end: datetime

    def overlaps(self, start: Moment, end: Moment) -> bool:
        """Whether an event touches it; one without a duration counts at its start."""
        first, last = self.placed(start), self.placed(end)
        return first < self.end and (last > self.start or first == last == self.start)

    def placed(self, moment: Moment) -> datetime:
        """A moment as an instant."""
        return instant(moment, self.start)


@dataclass(frozen=True)
class Busy:
    start: Moment
    end: Moment


@dataclass(frozen=True)
class Listing:
    events: list[Event] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """What could not be read, one sentence each."""


def instant(moment: Moment, zone_of: datetime) -> datetime:
    """A moment with a zone: floating times and days are those of `zone_of`."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day, tzinfo=zone_of.tzinfo)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone_of.tzinfo)


def wall(moment: Moment) -> datetime:
    """What the clock on the wall shows, without a zone."""
    if not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day)
    return moment.replace(tzinfo=None)


def shifted(moment: Moment, by: timedelta) -> Moment:
    """Moved on the clock on the wall: a day later is the same time of day, in summer and winter time."""
    if not isinstance(moment, datetime):
        return moment + timedelta(days=by.days)
    return moment + by  # arithmetic inside one zone is that of the wall clock


def like(kind: Moment, naive: datetime) -> Moment:
    """A wall clock time as the same kind of moment: a day, floating, or in its zone."""
    if not isinstance(kind, datetime):
        return naive.date()
    return naive.replace(tzinfo=kind.tzinfo)


def same_length(first: Moment, start: Moment, end: Moment) -> Moment:
    """The end of an event that is moved; an hour or a day if it changes between timed and all-day."""
    if isinstance(first, datetime) == isinstance(start, datetime):
        return shifted(first, wall(end) - wall(start))
    return shifted(first, timedelta(hours=1) if isinstance(first, datetime) else timedelta(days=1))


def on_clock(start: Moment | None, moment: Moment) -> Moment:
    """An original start in the zone of its series."""
    if isinstance(start, datetime) and isinstance(moment, datetime) and start.tzinfo and moment.tzinfo:
        return moment.astimezone(start.tzinfo)
    return moment


def check_organizer(event: Event, changes: EventChanges) -> None:
    """Raises `ToolFailure` for what only the organizer of an event can change."""
    if not event.mine and not changes.only_own:
        raise ToolFailure(
            f"Only its organizer ({event.organizer}) can change this event.",
            "Answer it with `response`, or ask the organizer.",
        )


def not_found() -> ToolFailure:
    return ToolFailure("This event is not in the calendar.", "It may have been deleted: look again.")


def not_invited() -> ToolFailure:
    return ToolFailure("The user is not invited to this event.", "Leave out `response`.")


def conflict() -> ToolFailure:
    return ToolFailure("Someone else changed this event.", "Read it again, then repeat the change.")


def terms(query: str) -> list[str]:
    """The words and phrases of a query."""
    return [(phrase or word).casefold() for phrase, word in _TERM.findall(query)]


def matches(query: str, content: str) -> bool:
    """`content` is in case-folded form."""
    return all(term in content for term in terms(query))

"""Expands a calendar object into the occurrences inside a window of time: which are excluded, moved or
replaced, and the most occurrences of one series. Dates of a rule are computed in `rules.py`.

The members of a series are its start, the dates of its rules and its RDATEs, without its EXDATEs; an override
(RECURRENCE-ID) replaces one of them, or it and all that follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from icalendar import Calendar, Component

from toolcrib.bundled.calendar.ics import Zones, moments, rules_of, start_and_end, text
from toolcrib.bundled.calendar.identifiers import occurrence_key
from toolcrib.bundled.calendar.model import Moment, TimeWindow, like, on_clock, shifted, wall
from toolcrib.bundled.calendar.rules import UnreadableRule, dates
from toolcrib.bundled.calendar.zones import settled

MAX_OCCURRENCES = 5000
"""Of one object in one window."""


@dataclass(frozen=True)
class Occurrence:
    component: Component
    """What describes it: the event itself, the master of its series, or an override."""
    start: Moment
    end: Moment
    key: str
    """Its original start, as `occurrence_key` writes it; empty if it does not repeat."""


@dataclass
class Series:
    """The components of one UID."""

    master: Component | None = None
    overrides: dict[str, Component] = field(default_factory=dict)
    """By the original start of the occurrence that each replaces."""
    onwards: list[tuple[str, Component]] = field(default_factory=list)
    """Overrides that also apply to all later occurrences."""


class Expansion:
    """One calendar object, which holds one event or one series."""

    def __init__(self, calendar: Calendar, fallback: tzinfo) -> None:
        self.zones = Zones(calendar, fallback)
        self.remarks: list[str] = []
        self._series = _collect(calendar, self.zones)

    @property
    def masters(self) -> list[Component]:
        """The components that are not overrides."""
        return [series.master for series in self._series.values() if series.master is not None]

    def within(self, window: TimeWindow) -> list[Occurrence]:
        """The occurrences that touch the window, in the order of their start."""
        found = [
            occurrence for series in self._series.values() for occurrence in self._of_series(series, window)
        ]
        found = [occurrence for occurrence in found if not _is_cancelled(occurrence.component)]
        found.sort(key=lambda occurrence: window.placed(occurrence.start))
        if len(found) > MAX_OCCURRENCES:
            self.remarks.append(f"only the first {MAX_OCCURRENCES} occurrences are shown")
        return found[:MAX_OCCURRENCES]

    def _of_series(self, series: Series, window: TimeWindow) -> Iterator[Occurrence]:
        if series.master is not None:
            yield from self._of_master(series.master, series, window)
        for key, override in series.overrides.items():
            times = start_and_end(override, self.zones)
            if times and window.overlaps(*times):
                yield Occurrence(override, *times, key)

    def _of_master(self, master: Component, series: Series, window: TimeWindow) -> Iterator[Occurrence]:
        times = start_and_end(master, self.zones)
        if times is None:
            self.remarks.append(f"{text(master, 'SUMMARY')[:60]!r} has no readable start")
            return
        if not repeats(master):
            if window.overlaps(*times):
                yield Occurrence(master, *times, "")
            return
        for original, end in self.members(master, window):
            key = occurrence_key(original)
            if key in series.overrides or occurrence_key(wall(original).date()) in series.overrides:
                continue
            occurrence = self._shaped(series, key, original, end, master)
            if window.overlaps(occurrence.start, occurrence.end):
                yield occurrence

    def _shaped(
        self, series: Series, key: str, original: Moment, end: Moment, master: Component
    ) -> Occurrence:
        """An occurrence without its own override: like the master, or an override for all later ones."""
        for since, override in reversed(series.onwards):
            times = start_and_end(override, self.zones)
            first = self.zones.moment(override["RECURRENCE-ID"])
            if times and first is not None and since <= key:
                start = shifted(original, wall(times[0]) - wall(first))
                return Occurrence(override, start, shifted(start, wall(times[1]) - wall(times[0])), key)
        return Occurrence(master, settled(original), end, key)

    def members(self, master: Component, window: TimeWindow) -> Iterator[tuple[Moment, Moment]]:
        """Start and end of each member of the series that may touch the window, without its overrides."""
        times = start_and_end(master, self.zones)
        if times is None:
            return
        start, end = times
        length = wall(end) - wall(start)
        excluded = _Excluded([moment for moment, _ in moments(master, "EXDATE", self.zones)], start)
        added = {wall(on_clock(start, added)): last for added, last in moments(master, "RDATE", self.zones)}
        last = _wall_end(window, start)
        for day in sorted({wall(start), *self._rule_dates(master, start, last), *added}):
            original = like(start, day)
            if day <= last and original not in excluded:
                yield original, _end(original, added.get(day), length)

    def _rule_dates(self, master: Component, start: Moment, last: datetime) -> Iterator[datetime]:
        for rule in rules_of(master):
            try:
                yield from dates(rule, start, last)
            except UnreadableRule as error:
                title = text(master, "SUMMARY")[:60]
                self.remarks.append(f"{title!r} repeats by a rule that cannot be used: {error}")


class _Excluded:
    """EXDATEs. A day excludes every occurrence of that day, as some programs mean it."""

    def __init__(self, given: list[Moment], start: Moment) -> None:
        timed = isinstance(start, datetime)
        self._keys = {occurrence_key(moment) for moment in given}
        self._walls = {
            wall(moment) for moment in given if isinstance(moment, datetime) and moment.tzinfo is None
        }
        self._days = {wall(moment).date() for moment in given if not (timed and isinstance(moment, datetime))}

    def __contains__(self, original: Moment) -> bool:
        return (
            occurrence_key(original) in self._keys
            or wall(original) in self._walls
            or wall(original).date() in self._days
        )


def repeats(event: Component) -> bool:
    """Whether it is a series."""
    return "RRULE" in event or "RDATE" in event


def _collect(calendar: Calendar, zones: Zones) -> dict[str, Series]:
    found: dict[str, Series] = {}
    for component in calendar.walk("VEVENT"):
        series = found.setdefault(text(component, "UID"), Series())
        original = zones.moment(component.get("RECURRENCE-ID"))
        if original is None:
            series.master = _newer(series.master, component)
            continue
        key = occurrence_key(original)
        series.overrides[key] = _newer(series.overrides.get(key), component)
        if str(component["RECURRENCE-ID"].params.get("RANGE", "")).upper() == "THISANDFUTURE":
            series.onwards.append((key, component))
    for series in found.values():
        series.onwards.sort(key=lambda pair: pair[0])
    return found


def _newer(known: Component | None, other: Component) -> Component:
    if known is None or _sequence(other) >= _sequence(known):
        return other
    return known


def _sequence(component: Component) -> int:
    try:
        return int(component.get("SEQUENCE", 0))
    except (TypeError, ValueError):
        return 0


def _is_cancelled(component: Component) -> bool:
    return text(component, "STATUS").upper() == "CANCELLED"


def _end(original: Moment, given: Moment | timedelta | None, length: timedelta) -> Moment:
    """Of a member: by its own period, else as long on the wall clock as the first one."""
    if given is not None and not isinstance(given, timedelta):
        return given
    return settled(shifted(original, length if given is None else given))


def _wall_end(window: TimeWindow, start: Moment) -> datetime:
    """The end of the window on the clock of the series; a day more for floating times."""
    if isinstance(start, datetime) and start.tzinfo is not None:
        return wall(window.end.astimezone(start.tzinfo))
    return wall(window.end) + timedelta(days=1)

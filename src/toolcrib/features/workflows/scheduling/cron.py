"""Cron expressions of five fields, or of six with the seconds first, matched against local times: shortcuts
(`@daily`), error messages, and what happens at daylight saving.

Fields take `*`, lists, ranges, steps and names; the day of the month also takes `L` for the last one. If both
days are restricted, either may match, as in every cron.

The moments of a schedule in UTC: a cron expression in a time zone, or a fixed interval. Daylight saving: a
time of day that is skipped runs once, when the clock has moved on; one that is repeated runs once, the first
time. A schedule of every hour (`*` or `*/n` as the hour) follows elapsed time instead: nothing is run for an
hour that does not exist, and a repeated hour counts as two.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from calendar import monthrange
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from toolcrib.errors import UsageError
from toolcrib.serverkit.time_phrases import MONTHS, WEEKDAYS

_MONTHS = tuple(name[:3] for name in MONTHS)
_WEEKDAYS = tuple(name[:3] for name in (WEEKDAYS[-1], *WEEKDAYS[:-1]))
SHORTCUTS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
SEARCHED_YEARS = 9
"""29 February is at most eight years away."""
LONGEST = 200
_ITEM = re.compile(r"(?P<first>\*|[a-z]{3}|\d{1,2})(?:-(?P<last>[a-z]{3}|\d{1,2}))?(?:/(?P<step>\d{1,2}))?")


SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
FIRST_LOOK = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadSchedule(UsageError):
    """The text is neither a cron expression nor a phrase that is understood."""

    kind = "bad_schedule"


@dataclass(frozen=True, kw_only=True)
class CronExpression:
    """The values that each field allows, sorted."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    last_day: bool
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    """0 is Sunday."""
    any_hour: bool
    """The hour is `*` or `*/n`, so that the schedule follows elapsed time and not the time of day."""
    any_day: bool
    any_weekday: bool

    def first_from(self, start: datetime) -> datetime | None:
        """The first local time at or after this one; None if there is none within years."""
        for day in self._days_from(start.date()):
            begins = start.time() if day == start.date() else time()
            found = self._first_time(begins)
            if found is not None:
                return datetime.combine(day, found)
        return None

    def _days_from(self, start: date) -> Iterator[date]:
        for months in range(SEARCHED_YEARS * 12 + 1):
            month = start.month - 1 + months
            year, month = start.year + month // 12, month % 12 + 1
            if month not in self.months or year > date.max.year:
                continue
            first = start.day if months == 0 else 1
            for day in range(first, monthrange(year, month)[1] + 1):
                if self._is_day(date(year, month, day)):
                    yield date(year, month, day)

    def _is_day(self, day: date) -> bool:
        is_last = self.last_day and (day + timedelta(days=1)).month != day.month
        in_month = day.day in self.days or is_last
        in_week = day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return in_month and in_week
        return in_month or in_week

    def _first_time(self, at: time) -> time | None:
        if at.hour in self.hours:
            second = _from(self.seconds, at.second)
            if at.minute in self.minutes and second is not None:
                return time(at.hour, at.minute, second)
            minute = _from(self.minutes, at.minute + 1)
            if minute is not None:
                return time(at.hour, minute, self.seconds[0])
        hour = _from(self.hours, at.hour + 1)
        return None if hour is None else time(hour, self.minutes[0], self.seconds[0])


def read_cron(text: str) -> CronExpression:
    """Raises `BadSchedule`, which names the field."""
    shown = SHORTCUTS.get(text.strip().lower(), text.strip().lower())
    fields = shown.split()
    if len(shown) > LONGEST or len(fields) not in (5, 6):
        raise BadSchedule(
            f"{text[:LONGEST]!r} is not a cron expression: it has {len(fields)} fields.",
            hint="Write minute, hour, day, month and weekday, such as 30 7 * * 1-5; seconds may come first.",
        )
    second, minute, hour, day, month, weekday = ["0", *fields] if len(fields) == 5 else fields
    expression = CronExpression(
        seconds=_values("second", second, 0, 59),
        minutes=_values("minute", minute, 0, 59),
        hours=_values("hour", hour, 0, 23),
        days=_values("day", _without_last(day), 1, 31) if day != "l" else (),
        last_day="l" in day.split(","),
        months=_values("month", month, 1, 12, _MONTHS, 1),
        weekdays=tuple(sorted({value % 7 for value in _values("weekday", weekday, 0, 7, _WEEKDAYS)})),
        any_hour=hour.startswith("*"),
        any_day=day.startswith("*"),
        any_weekday=weekday.startswith("*"),
    )
    if expression.first_from(datetime(2000, 1, 1)) is None:
        raise BadSchedule(f"{text!r} never occurs: no month has that day.")
    return expression


def _without_last(field: str) -> str:
    return ",".join(item for item in field.split(",") if item != "l")


def _values(
    name: str, field: str, least: int, most: int, names: Sequence[str] = (), first: int = 0
) -> tuple[int, ...]:
    found: set[int] = set()
    for item in field.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise _bad(name, field, least, most)
        found.update(_range(name, field, match, least, most, names, first))
    return tuple(sorted(found))


def _range(
    name: str, field: str, match: re.Match[str], least: int, most: int, names: Sequence[str], offset: int
) -> range:
    step = int(match["step"] or 1)
    if match["first"] == "*":
        begin, end = least, most if name != "weekday" else 6
    else:
        begin = _number(match["first"], names, offset)
        # `5/10` counts from 5 to the end of the field.
        end = _number(match["last"], names, offset) if match["last"] else (most if match["step"] else begin)
    if step < 1 or not least <= begin <= end <= most or (match["first"] == "*" and match["last"]):
        raise _bad(name, field, least, most)
    return range(begin, end + 1, step)


def _number(text: str, names: Sequence[str], offset: int) -> int:
    if text.isdigit():
        return int(text)
    return names.index(text) + offset if text in names else -1


def _bad(name: str, field: str, least: int, most: int) -> BadSchedule:
    return BadSchedule(
        f"{field!r} is not valid for the {name}: values are {least} to {most}.",
        hint="A field is *, a number, a list 1,15, a range 1-5 or a step */10.",
    )


def _from(values: tuple[int, ...], least: int) -> int | None:
    place = bisect_left(values, least)
    return values[place] if place < len(values) else None


class Timetable(Protocol):
    def next(self, after: datetime) -> datetime | None:
        """The first moment after this one, in UTC; None if there is none within years."""


@dataclass(frozen=True)
class IntervalTimetable:
    """Counted from 1970, so that every host has the same moments."""

    every: timedelta

    def next(self, after: datetime) -> datetime | None:
        return _EPOCH + self.every * ((after - _EPOCH) // self.every + 1)


@dataclass(frozen=True)
class CronTimetable:
    expression: CronExpression
    zone: ZoneInfo

    def next(self, after: datetime) -> datetime | None:
        after = after.astimezone(UTC).replace(microsecond=0)
        return self._next_elapsed(after) if self.expression.any_hour else self._next_time_of_day(after)

    def _next_time_of_day(self, after: datetime) -> datetime | None:
        local: datetime | None = after.astimezone(self.zone).replace(tzinfo=None)
        while local is not None and (local := self.expression.first_from(local + SECOND)) is not None:
            moment = self._moment(local)
            # Earlier while a repeated hour passes for the second time.
            if moment > after:
                return moment
        return None

    def _moment(self, local: datetime) -> datetime:
        """When the clock shows this time first, or moves past it."""
        moment = local.replace(tzinfo=self.zone).astimezone(UTC)
        if moment.astimezone(self.zone).replace(tzinfo=None) == local:
            return moment
        earlier = local.replace(tzinfo=self.zone, fold=1).astimezone(UTC)
        return self._change(earlier, moment)

    def _next_elapsed(self, after: datetime) -> datetime | None:
        """Between two changes of the offset, local time runs as UTC does."""
        start = after + SECOND
        while True:
            offset = self._offset(start)
            local = self.expression.first_from(start.replace(tzinfo=None) + offset)
            if local is None:
                return None
            moment = (local - offset).replace(tzinfo=UTC)
            changed = self._first_change(start, moment)
            if changed is None:
                return moment
            start = changed

    def _first_change(self, start: datetime, end: datetime) -> datetime | None:
        """The first moment up to `end` with another offset than at `start`."""
        offset = self._offset(start)
        while start < end:
            step = min(start + DAY, end)
            if self._offset(step) != offset:
                return self._change(start, step)
            start = step
        return None

    def _change(self, before: datetime, after: datetime) -> datetime:
        """The second at which the offset changes between these two."""
        offset = self._offset(before)
        while after - before > SECOND:
            middle = before + (after - before) // (2 * SECOND) * SECOND
            before, after = (middle, after) if self._offset(middle) == offset else (before, middle)
        return after

    def _offset(self, moment: datetime) -> timedelta:
        return moment.astimezone(self.zone).utcoffset() or timedelta()


def moments(timetable: Timetable, after: datetime, until: datetime) -> Iterator[datetime]:
    """All moments after the first and up to the second."""
    moment = timetable.next(after)
    while moment is not None and moment <= until:
        yield moment
        moment = timetable.next(moment)


def latest(timetable: Timetable, after: datetime, until: datetime, most: int) -> list[datetime]:
    """The last so many moments of a time that may be long: it is searched from its end."""
    look = FIRST_LOOK
    while True:
        start = max(after, until - look)
        found = deque(moments(timetable, start, until), maxlen=most)
        if len(found) == most or start == after:
            return list(found)
        look *= 4

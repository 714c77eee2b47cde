"""The moments of a schedule in UTC: a cron expression in a time zone, or a fixed interval.

Daylight saving: a time of day that is skipped runs once, when the clock has moved on; one that is repeated
runs once, the first time. A schedule of every hour (`*` or `*/n` as the hour) follows elapsed time instead:
nothing is run for an hour that does not exist, and a repeated hour counts as two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from toolcrib.features.workflows.scheduling.cron import CronExpression

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
FIRST_LOOK = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

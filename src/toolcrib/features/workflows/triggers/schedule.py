"""Starts runs at times: a cron expression or a phrase, in a time zone. Decides when a start counts as missed
and what is done then, overlapping runs, and clocks that are set back.

Our own scheduler and not that of DBOS: a moment is stored before its run starts and its run id is made from
it, so that hosts which share a database need no leader; moments that were missed and changes of the clock
are handled by one rule; and schedules are checked and described without the engine being installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.scheduling.cron import Timetable, latest
from toolcrib.features.workflows.scheduling.phrases import describe_schedule, read_timetable
from toolcrib.features.workflows.trigger_type import (
    Overlap,
    TriggerOccurrence,
    TriggerResult,
    TriggerSettings,
    TriggerType,
    WatchContext,
)

ON_TIME = timedelta(seconds=60)
"""A moment that is found later than this was missed."""
CLOCK_SET_BACK = timedelta(seconds=60)
"""Clocks of hosts that share a database may differ by less."""
MOST_AT_ONCE = 100
"""Moments that one check starts; a schedule of every second has 60 of them within `ON_TIME`."""


class ScheduleSettings(TriggerSettings):
    cron: str = Field(min_length=1, max_length=200)
    """A cron expression of five or six fields, or a phrase such as `weekdays at 07:30`."""
    timezone: str = Field(default="UTC", max_length=64)
    """A name of the IANA database, such as `Europe/Berlin`."""
    missed: Literal["skip", "once", "all"] = "skip"
    """What to do about moments at which no host was running."""
    most_missed: int = Field(default=24, ge=1, le=1000)
    """How many of them `all` starts: the latest."""
    overlap: Overlap = "skip"
    """What to do if the run before is still active."""


class ScheduleWatch:
    def __init__(self, settings: ScheduleSettings) -> None:
        self._settings = settings
        self._timetable = _timetable(settings.cron, settings.timezone)
        self._next: tuple[str, datetime | None] = ("", None)

    async def check(self, now: datetime, position: str) -> TriggerResult:
        since = datetime.fromisoformat(position) if position else now
        if since - now > CLOCK_SET_BACK:
            # Moments that were started already are remembered, and are not started again.
            return TriggerResult(position=now.isoformat())
        if self._next[0] != position:
            self._next = (position, self._timetable.next(since))
        upcoming = self._next[1]
        if upcoming is None or upcoming > now:
            return TriggerResult()
        due = due_moments(self._timetable, since, now, self._settings)
        return TriggerResult(occurrences=tuple(map(_occurrence, due)), position=now.isoformat())


def due_moments(
    timetable: Timetable, since: datetime, now: datetime, settings: ScheduleSettings
) -> Sequence[datetime]:
    """The moments since then that start a run now."""
    missed_until = now - ON_TIME
    on_time = latest(timetable, max(since, missed_until), now, MOST_AT_ONCE)
    if settings.missed == "skip" or since >= missed_until:
        return on_time
    if settings.missed == "once":
        return on_time or latest(timetable, since, missed_until, 1)
    return [*latest(timetable, since, missed_until, settings.most_missed), *on_time]


def _occurrence(moment: datetime) -> TriggerOccurrence:
    return TriggerOccurrence(
        id=moment.strftime("%Y%m%dT%H%M%SZ"), event={"scheduled": moment.isoformat()}, due=moment
    )


@lru_cache(maxsize=256)
def _timetable(cron: str, timezone: str) -> Timetable:
    return read_timetable(cron, ZoneInfo(timezone))


def _problems(settings: ScheduleSettings) -> tuple[str, ...]:
    try:
        ZoneInfo(settings.timezone)
    except (LookupError, ValueError, OSError):
        return (f"The time zone {settings.timezone!r} is unknown: write one such as Europe/Berlin.",)
    try:
        _timetable(settings.cron, settings.timezone)
    except ToolcribError as error:
        return (f"{error.message} {error.hint}".strip(),)
    return ()


def _watch(settings: ScheduleSettings, context: WatchContext) -> ScheduleWatch:
    return ScheduleWatch(settings)


def _next(settings: ScheduleSettings, now: datetime) -> datetime | None:
    found = _timetable(settings.cron, settings.timezone).next(now)
    return None if found is None else found.astimezone(UTC)


TRIGGER = TriggerType(
    name="schedule",
    title="Schedule",
    about="Starts a run at times, such as every weekday at 07:30.",
    settings=ScheduleSettings,
    describe=lambda settings: describe_schedule(settings.cron, settings.timezone),
    problems=_problems,
    event={"scheduled": "the moment it was due, in UTC"},
    watch=_watch,
    overlap=lambda settings: settings.overlap,
    next=_next,
)

"""Schedules in plain words: `every 15 minutes`, `weekdays at 07:30`, `monthly on day 1 at 6:00`."""

from __future__ import annotations

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

from toolcrib.features.workflows.scheduling.cron import WEEKDAYS, BadSchedule, read_cron
from toolcrib.features.workflows.scheduling.timetable import CronTimetable, IntervalTimetable, Timetable

LONGEST_INTERVAL = timedelta(days=366)
_UNITS = {"second": 1, "minute": 60, "hour": 3600}
_INTERVAL = re.compile(r"every (?:(\d{1,6}) )?(second|minute|hour)s?")
_HOURLY = re.compile(r"(?:hourly|every hour) at :?(\d{1,2})")
_TIMED = re.compile(r"(?P<days>.+?),? at (?P<time>.+)")
_TIME = re.compile(r"(\d{1,2})(?::(\d{2}))? ?(am|pm)?")
_MONTHLY = re.compile(r"(?:monthly|every month),? on (?:the |day )?(last day|\d{1,2})(?:st|nd|rd|th)?")
_DAY_WORDS = {
    "daily": "*",
    "every day": "*",
    "weekdays": "1-5",
    "every weekday": "1-5",
    "on weekdays": "1-5",
    "weekends": "0,6",
    "on weekends": "0,6",
}
_TIME_WORDS = {"noon": (12, 0), "midnight": (0, 0)}
_HINT = (
    "Write a cron expression such as 30 7 * * 1-5, or: every 15 minutes, hourly, daily at 07:30, "
    "weekdays at 07:30, every monday at 9:00, monthly on day 1 at 06:00."
)


def read_timetable(text: str, zone: ZoneInfo) -> Timetable:
    """Raises `BadSchedule`."""
    every = _read_interval(_plain(text))
    return IntervalTimetable(every) if every else CronTimetable(read_cron(as_cron(text)), zone)


def as_cron(text: str) -> str:
    """The cron expression of a phrase, or the text itself if it is one already.

    Raises `BadSchedule`; intervals have none.
    """
    plain = _plain(text)
    if plain == "hourly":
        return "0 * * * *"
    if hourly := _HOURLY.fullmatch(plain):
        return f"{int(hourly[1])} * * * *"
    if timed := _TIMED.fullmatch(plain):
        hour, minute = _read_time(timed["time"], text)
        return f"{minute} {hour} {_read_days(timed['days'], text)}"
    if re.match(r"[\d*@]", plain):
        return text
    raise _unknown(text)


def interval_of(text: str) -> timedelta | None:
    """The interval of `every 15 minutes`; None for other schedules."""
    return _read_interval(_plain(text))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _read_interval(plain: str) -> timedelta | None:
    found = _INTERVAL.fullmatch(plain)
    if found is None:
        return None
    every = timedelta(seconds=int(found[1] or 1) * _UNITS[found[2]])
    if not timedelta() < every <= LONGEST_INTERVAL:
        raise BadSchedule(f"{plain!r}: an interval is at least a second and at most a year.")
    return every


def _read_time(text: str, whole: str) -> tuple[int, int]:
    if text in _TIME_WORDS:
        return _TIME_WORDS[text]
    found = _TIME.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        raise _unknown(whole)
    hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
    if half and not 1 <= hour <= 12:
        raise _unknown(whole)
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        raise BadSchedule(f"{text!r} is not a time of day.", hint="Write 07:30 or 7:30 pm.")
    return hour, minute


def _read_days(text: str, whole: str) -> str:
    """The last three fields of the cron expression."""
    if text in _DAY_WORDS:
        return f"* * {_DAY_WORDS[text]}"
    if monthly := _MONTHLY.fullmatch(text):
        return f"{'L' if monthly[1] == 'last day' else int(monthly[1])} * *"
    names = re.split(r", and |, | and ", re.sub(r"^(?:every|weekly on|on) ", "", text))
    days = [_read_weekday(name, whole) for name in names]
    return f"* * {','.join(map(str, sorted(set(days))))}"


def _read_weekday(name: str, whole: str) -> int:
    full = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
    single = name.removesuffix("s") if name.endswith("days") else name
    for names in (full, WEEKDAYS):
        if single in names:
            return names.index(single)
    raise _unknown(whole)


def _unknown(text: str) -> BadSchedule:
    return BadSchedule(f"The schedule {text[:100]!r} is not understood.", hint=_HINT)

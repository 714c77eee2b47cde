"""Schedules in plain words, both ways: `weekdays at 07:30` becomes cron, and cron becomes a sentence;
shortest and longest interval, and the error for a phrase that is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import time, timedelta
from zoneinfo import ZoneInfo

from toolcrib.features.workflows.scheduling.cron import (
    BadSchedule,
    CronExpression,
    CronTimetable,
    IntervalTimetable,
    Timetable,
    read_cron,
)
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.repetitions import WORKDAYS, Repetition, mark_repetitions
from toolcrib.serverkit.time_phrases import (
    DAY_NAME,
    MONTHS,
    REPEAT,
    TIME,
    WEEKDAYS,
    MarkedWords,
    Phrase,
    TimeOfDay,
    mark_of,
    mark_times,
)

LONGEST_INTERVAL = timedelta(days=366)
_INTERVAL = re.compile(r"every (?:(\d{1,6}) )?(second|minute|hour)s?")
_HOURLY = re.compile(r"hourly|(?:hourly|every hour) at :?(\d{1,2})")
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_MOST_TIMES = 4
_HINT = (
    "Write a cron expression such as 30 7 * * 1-5, or: every 15 minutes, hourly, daily at 07:30, "
    "weekdays at 07:30, every monday at 9:00, monthly on day 1 at 06:00."
)


def read_timetable(text: str, zone: ZoneInfo) -> Timetable:
    """Raises `BadSchedule`."""
    every = interval_of(text)
    return IntervalTimetable(every) if every else CronTimetable(read_cron(as_cron(text)), zone)


def as_cron(text: str) -> str:
    """The cron expression of a phrase, or the text itself if it is one already.

    Raises `BadSchedule`; intervals have none.
    """
    plain = _plain(text)
    if hourly := _HOURLY.fullmatch(plain):
        return f"{int(hourly[1] or 0)} * * * *"
    if " at " not in plain and re.match(r"[\d*@]", plain):
        return text
    days, clock = _read_words(re.sub(rf"^(?:on )?(?={DAY_NAME}s?\b)", "every ", plain), text)
    at = _time_of_day(clock)
    cron_days = _cron_days(days)
    if at is None or cron_days is None:
        raise _unknown(text)
    return f"{at.minute} {at.hour} {cron_days}"


def interval_of(text: str) -> timedelta | None:
    """The interval of `every 15 minutes`; None for other schedules."""
    plain = _plain(text)
    found = _INTERVAL.fullmatch(plain)
    if found is None:
        return None
    every = int(found[1] or 1) * timedelta(**{f"{found[2]}s": 1})
    if not timedelta() < every <= LONGEST_INTERVAL:
        raise BadSchedule(f"{plain!r}: an interval is at least a second and at most a year.")
    return every


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _read_words(plain: str, text: str) -> tuple[Repetition, MarkedWords]:
    """The days and the time of a phrase that says nothing else."""
    phrase = Phrase.of(plain)
    try:
        mark_repetitions(phrase)
        mark_times(phrase)
    except ToolFailure as error:
        raise BadSchedule(error.message, hint=error.hint) from None
    used = phrase.use(rf"^{mark_of(REPEAT)},? {mark_of(TIME)}$")
    if not used or not used[1].words.startswith("at "):
        raise _unknown(text)
    return used[0].value, used[1]


def _time_of_day(found: MarkedWords) -> time | None:
    """None for what can be meant in two ways (`at 7`), and for a time in a zone of its own."""
    clock: TimeOfDay = found.value
    if clock.zone or (clock.midnight and ":" in found.words):
        return None
    if clock.half:
        return clock.candidates[0]
    return time(clock.hour, clock.minute) if ":" in found.words else None


def _cron_days(repetition: Repetition) -> str | None:
    """The last three fields of the cron expression; None if cron has none for these days."""
    if repetition.other is not None:
        return None
    match repetition.parts:
        case {"FREQ": "DAILY", **rest} if not rest:
            return "* * *"
        case {"FREQ": "MONTHLY", "BYMONTHDAY": day, **rest} if not rest:
            return f"{day.replace('-1', 'L')} * *"
        case {"FREQ": "WEEKLY", "BYDAY": _, **rest} if not rest:
            return f"* * {','.join(map(str, sorted((day + 1) % 7 for day in repetition.days)))}"
    return None


def _unknown(text: str) -> BadSchedule:
    return BadSchedule(f"The schedule {text[:100]!r} is not understood.", hint=_HINT)


def describe_schedule(text: str, timezone: str) -> str:
    """Raises `BadSchedule`."""
    every = interval_of(text)
    if every is not None:
        return describe_interval(every)
    expression = read_cron(as_cron(text))
    times = _times(expression)
    if times is None:
        return f"On the cron schedule {text.strip()}, {timezone}"
    if times.startswith("at "):
        times = f"{_days(expression) or 'Every day'} {times}"
    return f"{times}, {timezone}"


def describe_interval(every: timedelta) -> str:
    seconds = int(every.total_seconds())
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    count = seconds // size
    return f"Every {unit}" if count == 1 else f"Every {count} {unit}s"


def _times(expression: CronExpression) -> str | None:
    """`at 07:30`, or `Every hour at :15` for schedules of every hour; None for what has no short form."""
    if expression.seconds != (0,):
        return None
    if len(expression.hours) == 24 and len(expression.minutes) == 1:
        return f"Every hour at :{expression.minutes[0]:02}" if _is_daily(expression) else None
    if len(expression.hours) == 24 and expression.minutes == tuple(range(60)):
        return "Every minute" if _is_daily(expression) else None
    if len(expression.hours) == 24:
        return _regular(expression)
    shown = [f"{hour:02}:{minute:02}" for hour in expression.hours for minute in expression.minutes]
    return f"at {_listed(shown)}" if len(shown) <= _MOST_TIMES else None


def _regular(expression: CronExpression) -> str | None:
    step = expression.minutes[1]
    if not _is_daily(expression) or expression.minutes != tuple(range(0, 60, step)) or 60 % step:
        return None
    return f"Every {step} minutes"


def _is_daily(expression: CronExpression) -> bool:
    return _days(expression) == ""


def _days(expression: CronExpression) -> str:
    """Empty for every day."""
    every_month = len(expression.months) == 12
    months = (
        "every month" if every_month else _listed([MONTHS[month - 1].title() for month in expression.months])
    )
    if not expression.any_day:
        day = _days_of_month(expression, months)
        return (
            day if expression.any_weekday else f"{day}, and {_of_week(expression).replace('Every', 'every')},"
        )
    if not expression.any_weekday or len(expression.weekdays) < 7:
        week = _of_week(expression)
        return week if every_month else f"{week} in {months}"
    if len(expression.days) < 31:
        return _days_of_month(expression, months)
    return "" if every_month else f"Every day in {months}"


def _days_of_month(expression: CronExpression, months: str) -> str:
    parts = [f"day {_listed([str(day) for day in expression.days])}"] if expression.days else []
    parts += ["the last day"] if expression.last_day else []
    return f"On {' and '.join(parts)} of {months}"


def _of_week(expression: CronExpression) -> str:
    days = sorted((day - 1) % 7 for day in expression.weekdays)
    if days == list(WORKDAYS):
        return "Every weekday"
    return f"Every {_listed([WEEKDAYS[day].title() for day in days])}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

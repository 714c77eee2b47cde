"""Says a schedule as users would: "Every weekday at 07:30, Europe/Berlin"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from toolcrib.features.workflows.scheduling.cron import CronExpression, read_cron
from toolcrib.features.workflows.scheduling.phrases import as_cron, interval_of

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_MOST_TIMES = 4


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
    months = "every month" if every_month else _listed([_MONTHS[month - 1] for month in expression.months])
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
    if expression.weekdays == (1, 2, 3, 4, 5):
        return "Every weekday"
    if expression.weekdays == (0, 6):
        return "Every Saturday and Sunday"
    monday_first = sorted(expression.weekdays, key=lambda day: (day - 1) % 7)
    return f"Every {_listed([_DAYS[day] for day in monday_first])}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""The moments of schedules, compared with a search of every second or minute around clock changes."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter

from toolcrib.features.workflows.scheduling.cron import (
    BadSchedule,
    CronExpression,
    CronTimetable,
    IntervalTimetable,
    latest,
    moments,
    read_cron,
)
from toolcrib.features.workflows.scheduling.phrases import read_timetable

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE = timedelta(minutes=1)
CHANGES = (
    ("Europe/Berlin", datetime(2026, 3, 29, 1, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2026, 10, 25, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 3, 8, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2026, 11, 1, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2026, 4, 4, 15, tzinfo=UTC)),  # half an hour
    ("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
    ("America/Santiago", datetime(2026, 9, 6, 4, tzinfo=UTC)),  # midnight does not exist
    ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC)),  # a whole day does not exist
)
EXPRESSIONS = (
    "30 2 * * *", "0 2 * * *", "0 3 * * *", "15,45 1-3 * * *", "*/15 2 * * *", "0 0 * * *", "30 23 * * *",
    "*/15 * * * *", "30 * * * *", "0 */2 * * *", "5 4 * * 0", "0 12 30 12 *", "59 1,2,3 * * *",
)  # fmt: skip


def is_match(expression: CronExpression, local: datetime) -> bool:
    return expression.first_from(local) == local


def searched(expression: CronExpression, zone: ZoneInfo, start: datetime, end: datetime) -> list[datetime]:
    """Every minute of UTC, with what the clock shows there and in the minute before."""
    found, shown = [], start.astimezone(zone)
    moment = start
    while (moment := moment + MINUTE) <= end:
        before, shown = shown, moment.astimezone(zone)
        local = shown.replace(tzinfo=None)
        if expression.any_hour:
            due = is_match(expression, local)
        else:
            skipped = before.replace(tzinfo=None) + MINUTE
            due = is_match(expression, local) and shown.fold == 0
            while skipped < local and not due:
                due, skipped = is_match(expression, skipped), skipped + MINUTE
        if due:
            found.append(moment)
    return found


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=str)
def test_clock_changes_give_the_same_moments_as_a_search_of_every_minute(name: str, change: datetime) -> None:
    zone, start, end = ZoneInfo(name), change - timedelta(hours=4), change + timedelta(hours=5)
    for expression in map(read_cron, EXPRESSIONS):
        found = list(moments(CronTimetable(expression, zone), start, end))

        assert found == searched(expression, zone, start, end), expression


def test_a_skipped_time_of_day_runs_once_when_the_clock_has_moved_on() -> None:
    table = read_timetable("daily at 02:30", BERLIN)

    found = list(moments(table, datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 30, 12, tzinfo=UTC)))

    shown = [moment.astimezone(BERLIN).strftime("%d %H:%M") for moment in found]
    assert shown == ["28 02:30", "29 03:00", "30 02:30"]


def test_a_repeated_time_of_day_runs_once() -> None:
    table = read_timetable("daily at 02:30", BERLIN)

    start = datetime(2026, 10, 24, 12, tzinfo=UTC)
    found = list(moments(table, start, start + timedelta(days=1)))

    assert found == [datetime(2026, 10, 25, 0, 30, tzinfo=UTC)]


def test_every_quarter_hour_runs_in_both_passes_of_a_repeated_hour() -> None:
    table = read_timetable("*/15 * * * *", BERLIN)

    found = list(moments(table, datetime(2026, 10, 25, tzinfo=UTC), datetime(2026, 10, 25, 2, tzinfo=UTC)))

    assert len(found) == 8


def test_each_moment_follows_the_one_before_by_whole_intervals() -> None:
    table = IntervalTimetable(timedelta(minutes=7))

    found = list(moments(table, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)))

    assert {later - earlier for earlier, later in itertools.pairwise(found)} == {7 * MINUTE}
    assert found == list(moments(table, found[0] - MINUTE, found[-1]))


def test_random_expressions_agree_with_croniter() -> None:
    chance = random.Random(7)
    for _ in range(60):
        text = " ".join(
            (field(chance, 0, 59), field(chance, 0, 23), field(chance, 1, 28), field(chance, 1, 12), "*")
            if chance.random() < 0.5
            else (field(chance, 0, 59), field(chance, 0, 23), "*", field(chance, 1, 12), field(chance, 0, 6))
        )
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(500_000))
        theirs = croniter(text, start)
        moment: datetime | None = start
        for _ in range(8):
            assert moment is not None
            moment = read_timetable(text, ZoneInfo("UTC")).next(moment)
            assert moment == theirs.get_next(datetime), text


def field(chance: random.Random, least: int, most: int) -> str:
    kind = chance.randrange(5)
    low, high = sorted((chance.randint(least, most), chance.randint(least, most)))
    if kind == 0 and low < high:  # croniter takes 3-3 for the whole range
        return f"{low}-{high}"
    if kind == 1:
        return f"*/{chance.randint(1, max(1, most // 2))}"
    return ("*", str(low), f"{low},{high}")[kind % 3]


def test_seconds_come_first_in_six_fields() -> None:
    table = read_timetable("*/20 0 12 * * *", ZoneInfo("UTC"))

    found = list(moments(table, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)))

    assert [moment.strftime("%H:%M:%S") for moment in found] == ["12:00:00", "12:00:20", "12:00:40"]


def test_the_last_day_of_each_month_is_found() -> None:
    table = read_timetable("0 0 L * *", ZoneInfo("UTC"))

    found = list(moments(table, datetime(2027, 12, 31, tzinfo=UTC), datetime(2028, 4, 1, tzinfo=UTC)))

    assert [(moment.month, moment.day) for moment in found] == [(1, 31), (2, 29), (3, 31)]


def test_the_last_moments_of_ten_years_are_found_without_counting_them_all() -> None:
    start, end = datetime(2016, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)

    assert latest(read_timetable("* * * * * *", ZoneInfo("UTC")), start, end, 3) == [
        end - timedelta(seconds=2), end - timedelta(seconds=1), end,
    ]  # fmt: skip
    assert len(latest(read_timetable("0 0 1 1 *", ZoneInfo("UTC")), start, end, 100)) == 10


INVALID = (
    "", "soon", "61 * * * *", "* * * *", "* * * * * * *", "*/0 * * * *", "0 0 30 2 *", "5-1 * * * *",
    "a b c d e", "daily at 25:00", "daily at 7", "every 0 minutes", "every monday", "*-5 * * * *",
    "0 0 L-3 * *", "x" * 9999, "every other monday at 9:00", "every second tuesday at 9:00",
    "monday at 24:00", "first monday of every month at 9:00", "weekly at 9:00", "daily at 9:00 PST",
    "report daily at 9:00",
)  # fmt: skip


@pytest.mark.parametrize("text", INVALID)
def test_an_invalid_schedule_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(BadSchedule) as refused:
        read_timetable(text, BERLIN)

    assert refused.value.message

"""200 events with many rules, zones and exceptions, the same in every run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

from tests.bundled.calendar.radicale_server import calendar_data, vevent

SEED = 20261116
COUNT = 200
RULES = (
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=DAILY;BYDAY=MO,WE,FR",
    "FREQ=DAILY;BYMONTH=3,10",
    "FREQ=WEEKLY",
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
    "FREQ=WEEKLY;INTERVAL=3;BYDAY=SA,SU;WKST=SU",
    "FREQ=MONTHLY",
    "FREQ=MONTHLY;BYMONTHDAY=31",
    "FREQ=MONTHLY;BYMONTHDAY=-1",
    "FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR",
    "FREQ=MONTHLY;BYDAY=1MO",
    "FREQ=MONTHLY;BYDAY=-1SU",
    "FREQ=MONTHLY;BYDAY=2TU,4TU",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=MONTHLY;BYDAY=SA,SU;BYSETPOS=1,2",
    "FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=1,15",
    "FREQ=YEARLY",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
    "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
    "FREQ=YEARLY;BYYEARDAY=1,100,-1",
    "FREQ=YEARLY;BYMONTH=1,7;BYDAY=MO;BYSETPOS=1",
)
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "UTC",
    "",
    "date",
)
HOURS = (0, 1, 2, 3, 9, 13, 22, 23)
LENGTHS = (timedelta(minutes=30), timedelta(hours=1), timedelta(hours=9), timedelta(days=2, hours=3))


@dataclass(frozen=True)
class Generated:
    uid: str
    rule: str
    data: str


def generated_events() -> list[Generated]:
    chance = random.Random(SEED)
    return [_event(f"g{number}", RULES[number % len(RULES)], chance) for number in range(COUNT)]


def _event(uid: str, rule: str, chance: random.Random) -> Generated:
    zone = chance.choice(ZONES)
    begin = datetime(2025, chance.randint(1, 12), chance.randint(1, 28), chance.choice(HOURS), 30)
    if zone == "date":
        begin = begin.replace(hour=0, minute=0)
    first = next(iter(rrulestr(rule, dtstart=begin)))
    length = timedelta(days=chance.randint(1, 3)) if zone == "date" else chance.choice(LENGTHS)
    last = first + timedelta(days=chance.randint(20, 500))
    number = chance.randint(2, 40)
    ending = chance.choice(("", "", f";COUNT={number}", f";UNTIL={_until(last, zone)}"))
    days = list(islice(rrulestr(rule, dtstart=first), min(30, number) if "COUNT" in ending else 30))
    days = [day for day in days if "UNTIL" not in ending or day <= last]
    excluded = chance.sample(days[1:6], k=min(len(days) - 1, chance.randint(0, 2)))
    added = (
        [first + timedelta(days=chance.randint(1, 400), hours=1)]
        if chance.random() < 0.3 and zone != "date"
        else []
    )
    lines = [
        f"SUMMARY:{uid}",
        _line("DTSTART", first, zone),
        _line("DTEND", first + length, zone),
        f"RRULE:{rule}{ending}",
    ]
    lines += [_line("EXDATE", day, zone) for day in excluded]
    lines += [_line("RDATE", day, zone) for day in added]
    parts = [vevent(uid, *lines)]
    free = [day for day in days[1:8] if day not in excluded]
    if free and chance.random() < 0.5:
        parts.append(_override(uid, chance.choice(free), zone, length, chance))
    return Generated(uid, f"{rule}{ending}", calendar_data(*parts))


def _override(uid: str, day: datetime, zone: str, length: timedelta, chance: random.Random) -> str:
    """One occurrence moved to another day and time."""
    moved = day + (timedelta(days=2) if zone == "date" else timedelta(hours=chance.choice((-30, -2, 5, 49))))
    return vevent(
        uid,
        f"SUMMARY:{uid} moved",
        _line("RECURRENCE-ID", day, zone),
        _line("DTSTART", moved, zone),
        _line("DTEND", moved + length, zone),
        "SEQUENCE:1",
    )


def _until(last: datetime, zone: str) -> str:
    if zone == "date":
        return last.strftime("%Y%m%d")
    if zone in ("", "UTC"):
        return last.strftime("%Y%m%dT%H%M%S") + ("Z" if zone else "")
    return last.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _line(name: str, moment: datetime, zone: str) -> str:
    if zone == "date":
        return f"{name};VALUE=DATE:{moment:%Y%m%d}"
    if zone == "UTC":
        return f"{name}:{moment:%Y%m%dT%H%M%S}Z"
    return f"{name}{f';TZID={zone}' if zone else ''}:{moment:%Y%m%dT%H%M%S}"


def compared(moment: datetime | date) -> str:
    """One spelling for moments of different libraries."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    return (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat()
